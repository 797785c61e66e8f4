/** Sockets on which processes listen, read from /proc: the processes themselves are not trusted. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

const TCP_LISTEN = '0A';
/** __SO_ACCEPTCON of Linux: the socket accepts connections. */
const UNIX_LISTENING = 0x10000;

/** Returns the TCP ports, IPv4 and IPv6, without duplicates. */
export function tcpPortsOf(pids: readonly number[]): number[] {
  const own = socketsOf(pids);
  const rows = ['tcp', 'tcp6'].flatMap((table) => rowsOf(table));
  const ports = rows.flatMap(([, local = '', , state, , , , , , inode = '']) =>
    state === TCP_LISTEN && own.has(inode) ? [Number.parseInt(local.slice(local.lastIndexOf(':') + 1), 16)] : [],
  );
  return [...new Set(ports)];
}

/** Returns the paths of Unix sockets; an abstract name begins with `@`. */
export function unixSocketsOf(pids: readonly number[]): string[] {
  const own = socketsOf(pids);
  return rowsOf('unix').flatMap(([, , , flags = '', , , inode = '', path]) =>
    (Number.parseInt(flags, 16) & UNIX_LISTENING) !== 0 && own.has(inode) && path !== undefined ? [path] : [],
  );
}

function rowsOf(table: string): string[][] {
  const lines = readFileSync(`/proc/net/${table}`, 'utf8').trim().split('\n').slice(1);
  return lines.map((line) => line.trim().split(/\s+/));
}

/** Returns the inodes of the open sockets of processes. */
function socketsOf(pids: readonly number[]): Set<string> {
  return new Set(
    pids.flatMap((pid) => linksOf(`/proc/${pid}/fd`)).flatMap((link) => /^socket:\[(\d+)\]$/.exec(link)?.[1] ?? []),
  );
}

function linksOf(folder: string): string[] {
  try {
    return readdirSync(folder).flatMap((name) => {
      try {
        return [readlinkSync(`${folder}/${name}`)];
      } catch {
        return [];
      }
    });
  } catch {
    return [];
  }
}
