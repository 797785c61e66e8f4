/**
 * Redis from Debian's package, on a unix socket alone. It holds rate limits and leases, which may be
 * lost with it, so it writes nothing to disk.
 */
import { accessSync, constants } from 'node:fs';
import { makeSocketFolder } from '#api/embedded/socket-folder.ts';
import { StartError } from '#api/embedded/start-error.ts';
import type { Server } from '#api/embedded/postgres.ts';
import { readyOrEnded, startSystemProcess } from '#api/embedded/system-process.ts';
import { unprivilegedUser } from '#api/embedded/system-user.ts';

const REDIS = '/usr/bin/redis-server';
const STOP_GRACE_MS = 5000;

/** @throws StartError when the package is missing or the server does not come up. */
export async function startRedis({
  dataFolder,
  onLine,
}: {
  dataFolder: string;
  onLine: (line: string) => void;
}): Promise<Server> {
  requireRedis();
  const user = unprivilegedUser(['redis', 'nobody']);
  const sockets = makeSocketFolder(dataFolder, 'redis', user);
  const socket = `${sockets.path}/redis.sock`;
  const { promise: ready, resolve: isReady } = Promise.withResolvers<void>();
  const server = await startSystemProcess({
    file: REDIS,
    args: redisArguments(sockets.path, socket),
    user,
    deathSignal: 'TERM',
    onLine: (line) => {
      onLine(line);
      if (line.includes('ready to accept connections')) isReady();
    },
  });
  const end = await readyOrEnded(ready, server);
  if (end !== null) throw new StartError(`Redis did not start (${end}).`);
  return {
    url: `unix://${socket}`,
    pid: server.pid,
    ended: server.ended,
    stop: async () => {
      await server.stop('SIGTERM', STOP_GRACE_MS);
      sockets.remove();
    },
  };
}

function requireRedis(): void {
  try {
    accessSync(REDIS, constants.X_OK);
  } catch {
    throw new StartError("Redis is missing: install Debian's package redis-server, run hack/setup, or give REDIS_URL.");
  }
}

function redisArguments(folder: string, socket: string): string[] {
  const settings = {
    dir: folder,
    port: '0',
    unixsocket: socket,
    unixsocketperm: '700',
    save: '',
    appendonly: 'no',
    maxmemory: '64mb',
    'maxmemory-policy': 'noeviction',
    databases: '64',
  };
  return Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]);
}
