import { flushCompileCache } from 'node:module';

/**
 * A supervised process says that it serves. Without a supervisor there is nobody to tell. What Node
 * compiled for it is kept now, because a process that is killed later keeps nothing.
 */
export function announceReady(): void {
  flushCompileCache();
  process.send?.({ type: 'ready' });
}

/** True for the message that `announceReady` sends. */
export function isReadyMessage(message: unknown): boolean {
  return typeof message === 'object' && message !== null && 'type' in message && message.type === 'ready';
}
