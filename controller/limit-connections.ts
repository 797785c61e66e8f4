/**
 * Limits of the open connections to a port for workers. A worker that opens any number of them would take the memory and
 * the file descriptors that the heartbeats of the others need.
 */
import ipaddr from 'ipaddr.js';
import type { Server, Socket } from 'node:net';
import type { Log } from '#crds/process/log.ts';

export interface WorkerConnectionLimits {
  /** Maximum number of open connections. */
  readonly total: number;
  /** Maximum number of open connections of an address that is not exempt. */
  readonly perAddress: number;
  /** Returns whether an address has no limit of its own. Default: loopback addresses, which all local processes share. */
  readonly isExempt?: (address: string) => boolean;
}

/** Minimum interval between warnings, in milliseconds. */
const WARNING_INTERVAL_MS = 60_000;

/** Closes connections above the limits at once. Those of a Unix socket have no address: only the total counts. */
export function limitConnections(
  { server, log }: { server: Server; log: Log },
  { total, perAddress, isExempt = isLoopback }: WorkerConnectionLimits,
): void {
  const open = new Map<string, number>();
  let warnedAt = -Infinity;
  const warn = (address: string | undefined, limit: number): void => {
    if (performance.now() - warnedAt < WARNING_INTERVAL_MS) return;
    warnedAt = performance.now();
    log.warn({ address, limit }, 'connection of a worker closed: its limit is reached');
  };
  server.maxConnections = total;
  server.on('drop', (dropped) => warn(dropped?.remoteAddress, total));
  server.on('connection', (socket: Socket) => {
    const address = socket.remoteAddress;
    if (address === undefined || isExempt(address)) return;
    const count = open.get(address) ?? 0;
    if (count >= perAddress) {
      socket.destroy();
      return warn(address, perAddress);
    }
    open.set(address, count + 1);
    socket.once('close', () => {
      const left = (open.get(address) ?? 0) - 1;
      if (left > 0) open.set(address, left);
      else open.delete(address);
    });
  });
}

function isLoopback(address: string): boolean {
  return ipaddr.process(address.replace(/%.*$/, '')).range() === 'loopback';
}
