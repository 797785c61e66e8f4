import { flushCompileCache } from 'node:module';

/**
 * Sends the supervisor, if there is one, the message that the process is ready. Flushes the compile cache of Node.js
 * now, because a killed process does not write it.
 */
export function announceReady(): void {
  flushCompileCache();
  process.send?.({ type: 'ready' });
}

/** Returns true for the message that `announceReady` sends. */
export function isReadyMessage(message: unknown): boolean {
  return typeof message === 'object' && message !== null && 'type' in message && message.type === 'ready';
}
