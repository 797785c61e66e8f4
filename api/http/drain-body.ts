import type { IncomingMessage } from 'node:http';

/** Maximum time for which the body of a refused request is read, in milliseconds. */
const DRAIN_MS = 30_000;

/**
 * Reads and drops the rest of the body of a refused request. Closing at once would reset the connection, often before
 * the client has read the response. A body that has not ended after the timeout is aborted.
 */
export function drainBody(request: IncomingMessage): void {
  if (request.complete || request.destroyed) return;
  const timer = setTimeout(() => request.destroy(), DRAIN_MS).unref();
  request.once('close', () => clearTimeout(timer));
  request.once('end', () => clearTimeout(timer));
  request.on('error', () => undefined);
  // A reader that failed may have left the stream paused.
  request.unpipe();
  request.resume();
}
