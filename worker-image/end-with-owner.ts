import { fstatSync } from 'node:fs';

/**
 * Calls back once with a reason when this process should end: SIGTERM, SIGINT, or the end of its owner, which holds
 * standard input open as a pipe. In a pod standard input is not a pipe.
 */
export function endWithOwner(end: (reason: string) => void): void {
  process.once('SIGTERM', () => end('SIGTERM'));
  process.once('SIGINT', () => end('SIGINT'));
  const input = fstatSync(0, { throwIfNoEntry: false });
  if (input === undefined || !(input.isFIFO() || input.isSocket())) return;
  process.stdin.once('end', () => end('its owner has ended'));
  process.stdin.once('error', () => end('its owner has ended'));
  process.stdin.resume();
}
