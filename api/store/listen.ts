/**
 * PostgreSQL notifications between our processes. They are hints that save waiting for the next poll:
 * one may be lost, so nothing depends on them.
 */
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { connectionSettings, PREPARED, type Queryable } from '#api/store/database.ts';
import type { Log } from '#crds/shared/log.ts';

interface ListenDeps {
  readonly url: string;
  readonly log: Log;
}

interface Subscription {
  readonly channel: string;
  /** Gets the notification's payload; '' also right after every connect, since hints may have been missed. */
  readonly onHint: (payload: string) => void;
  readonly signal: AbortSignal;
}

const RECONNECT_MS = { first: 250, most: 10_000 };

/** Listens on a connection of its own, connecting again when it is lost. Settles once the signal has aborted. */
export async function listen(deps: ListenDeps, subscription: Subscription): Promise<void> {
  const { channel, signal } = subscription;
  let wait = RECONNECT_MS.first;
  while (!signal.aborted) {
    const connected = await listenUntilLost(deps, subscription);
    if (signal.aborted) return;
    wait = connected ? RECONNECT_MS.first : Math.min(RECONNECT_MS.most, wait * 2);
    deps.log.warn({ channel, wait_ms: wait }, 'notification connection lost, connecting again');
    await delay(wait, undefined, { signal }).catch(() => undefined);
  }
}

/** Sends a hint; in a transaction it goes out with the commit. */
export async function notify(on: Queryable, channel: string, payload = ''): Promise<void> {
  await on.query('select pg_notify($1, $2)', [channel, payload], PREPARED);
}

/** true when the connection was there and then got lost. */
async function listenUntilLost(deps: ListenDeps, { channel, onHint, signal }: Subscription): Promise<boolean> {
  const client = new pg.Client({ ...connectionSettings(deps.url), connectionTimeoutMillis: 10_000 });
  const lost = new Promise<void>((resolve) => {
    client.once('error', () => resolve());
    client.once('end', () => resolve());
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
  client.on('error', () => undefined);
  client.on('notification', (message) => onHint(message.payload ?? ''));
  let connected = false;
  try {
    await client.connect();
    await client.query(`listen ${client.escapeIdentifier(channel)}`);
    connected = true;
    onHint('');
    await lost;
  } catch (error) {
    deps.log.warn({ err: error, channel }, 'listening for notifications failed');
  }
  await client.end().catch(() => undefined);
  return connected;
}
