import type { IncomingMessage } from 'node:http';

/** A refused client may go on sending for this long. */
const DRAIN_MS = 30_000;

/**
 * Reads and drops what a refused client still sends: closing at once would reset its connection, often
 * before it has read the answer. A client that does not come to an end is cut off.
 */
export function drainBody(request: IncomingMessage): void {
  if (request.complete || request.destroyed) return;
  const timer = setTimeout(() => request.destroy(), DRAIN_MS).unref();
  request.once('close', () => clearTimeout(timer));
  request.once('end', () => clearTimeout(timer));
  request.on('error', () => undefined);
  // Whoever read it may have stopped, and would hold it back.
  request.unpipe();
  request.resume();
}
