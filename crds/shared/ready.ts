/** A supervised process says that it serves. Without a supervisor there is nobody to tell. */
export function announceReady(): void {
  process.send?.({ type: 'ready' });
}

/** True for the message that `announceReady` sends. */
export function isReadyMessage(message: unknown): boolean {
  return typeof message === 'object' && message !== null && 'type' in message && message.type === 'ready';
}
