/**
 * PostgreSQL notifications between the service's processes. A notification is a hint that makes a poll run earlier; it
 * may be lost, so nothing depends on it.
 */
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { connectionSettings } from '#api/store/connection-settings.ts';
import { PREPARED, type Queryable } from '#api/store/database.ts';
import type { Log } from '#crds/process/log.ts';
import { backoffMs } from '#crds/process/backoff.ts';

interface ListenDeps {
  readonly url: string;
  readonly log: Log;
}

interface Subscription {
  readonly channel: string;
  /** Called with the payload of each notification, and with '' after every connect: some may have been missed. */
  readonly onNotification: (payload: string) => void;
  readonly signal: AbortSignal;
}

const RECONNECT = { firstMs: 250, maxMs: 10_000 };

/** Listens on a separate connection, which is reestablished with backoff. Resolves when the signal has aborted. */
export async function listen(deps: ListenDeps, subscription: Subscription): Promise<void> {
  const { channel, signal } = subscription;
  let failures = 0;
  while (!signal.aborted) {
    const connected = await listenUntilLost(deps, subscription);
    if (signal.aborted) return;
    failures = connected ? 0 : failures + 1;
    const waitMs = backoffMs(RECONNECT, failures);
    deps.log.warn({ channel, retry_in_ms: waitMs }, 'notification connection lost, connecting again');
    await delay(waitMs, undefined, { signal }).catch(() => undefined);
  }
}

/** Sends a notification; in a transaction it is sent at the commit. */
export async function notify(on: Queryable, channel: string, payload = ''): Promise<void> {
  await on.query('select pg_notify($1, $2)', [channel, payload], PREPARED);
}

/** Listens until the connection is lost or the signal aborts. Returns whether the connection was established. */
async function listenUntilLost(deps: ListenDeps, { channel, onNotification, signal }: Subscription): Promise<boolean> {
  const client = new pg.Client({ ...connectionSettings(deps.url), connectionTimeoutMillis: 10_000 });
  const lost = new Promise<void>((resolve) => {
    client.once('error', () => resolve());
    client.once('end', () => resolve());
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
  client.on('error', () => undefined);
  client.on('notification', (message) => onNotification(message.payload ?? ''));
  let connected = false;
  try {
    await client.connect();
    await client.query(`listen ${client.escapeIdentifier(channel)}`);
    connected = true;
    onNotification('');
    await lost;
  } catch (error) {
    deps.log.warn({ err: error, channel }, 'listening for notifications failed');
  }
  await client.end().catch(() => undefined);
  return connected;
}
