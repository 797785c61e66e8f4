/**
 * Test events. The API process sends no request to an address that a caller chose: it enqueues the ping for the
 * courier and waits for its outcome.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { AccountCaller } from '#api/accounts/find-caller.ts';
import { lockAccount } from '#api/accounts/account-rows.ts';
import { recordAudit } from '#api/audit/audit.ts';
import type { Dependencies } from '#api/dependencies.ts';
import { notifyCourier } from '#api/store/changes-channel.ts';
import { checkTargetUrl } from '#api/outbound/public-url.ts';
import { ownedEndpoint } from '#api/webhooks/change-webhook-endpoint.ts';
import { openUrl, sealUrl, urlContext } from '#api/webhooks/stored-url.ts';
import { webhookEndpointNotFound } from '#api/webhooks/webhook-endpoint-object.ts';
import { findWebhookEndpoint } from '#api/webhooks/webhook-endpoint-rows.ts';
import {
  findPingOutcome,
  insertPing,
  withdrawPing,
  type NewPing,
  type PingOutcome,
} from '#api/webhooks/webhook-ping-rows.ts';
import { secretContext } from '#api/webhooks/webhook-secret.ts';
import { MediaError } from '#crds/contract/media-error.ts';

const POLL_MS = 50;
/** Maximum time until a courier claims a ping, in milliseconds; afterwards it is withdrawn. */
const CLAIM_TIMEOUT_MS = 5000;
/** Maximum time until the outcome is known, in milliseconds. It includes the 10 seconds of the request. */
const OUTCOME_TIMEOUT_MS = 15_000;
/** Maximum number of pings of an account in flight: unresponsive receivers of one account must not occupy a courier. */
const MAX_PINGS = 20;

interface PingRequest {
  readonly id: string;
  /** Aborts the wait for the outcome. */
  readonly signal: AbortSignal;
}

/**
 * Sends one `ping` to an endpoint, once, paused or not. Returns its outcome.
 * @throws MediaError not_found, rate_limited; engine_busy when no courier claimed it in time.
 */
export async function requestPing(
  deps: Pick<Dependencies, 'database' | 'clock' | 'newId' | 'secretBox' | 'privateTargets'>,
  { caller, input }: { caller: AccountCaller; input: PingRequest },
): Promise<PingOutcome & { eventId: string }> {
  const { database, secretBox } = deps;
  const owned = ownedEndpoint(caller, input.id);
  const endpoint = await findWebhookEndpoint(database, owned);
  if (endpoint === null) throw webhookEndpointNotFound(owned.id);
  const url = openUrl(secretBox, endpoint, urlContext.endpoint(endpoint.id));
  checkTargetUrl(url, { purpose: 'webhook', privateTargets: deps.privateTargets, param: 'url' });
  const eventId = deps.newId('event');
  const secret = secretBox.open(endpoint.sealedSecret, secretContext.endpoint(endpoint.id));
  const ping = {
    eventId,
    accountId: owned.accountId,
    url: sealUrl(secretBox, url, urlContext.ping(eventId)),
    sealedSecret: secretBox.seal(secret, secretContext.ping(eventId)),
    livemode: caller.livemode,
    createdAt: deps.clock.now(),
  };
  await enqueue(deps, ping, { caller, endpointId: owned.id });
  return { eventId, ...(await outcomeOf(deps, ping, input.signal)) };
}

async function enqueue(
  { database }: Pick<Dependencies, 'database'>,
  ping: NewPing,
  { caller, endpointId }: { caller: AccountCaller; endpointId: string },
): Promise<void> {
  const { accountId, createdAt: at } = ping;
  const since = new Date(at.getTime() - OUTCOME_TIMEOUT_MS);
  await database.transaction(async (tx) => {
    await lockAccount(tx, accountId);
    if (!(await insertPing(tx, ping, { most: MAX_PINGS, since }))) throw tooManyPings();
    await recordAudit(tx, caller.actor, { at, action: 'webhook.test', target: endpointId, accountId });
    await notifyCourier(tx, 'pings');
  });
}

async function outcomeOf(
  { database, clock }: Pick<Dependencies, 'database' | 'clock'>,
  { eventId, createdAt }: NewPing,
  signal: AbortSignal,
): Promise<PingOutcome> {
  const waited = (): number => clock.now().getTime() - createdAt.getTime();
  for (let mayWithdraw = true; waited() < OUTCOME_TIMEOUT_MS;) {
    await delay(POLL_MS, undefined, { signal });
    const end = await findPingOutcome(database, eventId);
    if (end !== null) return end;
    if (!mayWithdraw || waited() < CLAIM_TIMEOUT_MS) continue;
    if (await withdrawPing(database, eventId)) throw notSent();
    mayWithdraw = false;
  }
  // The courier claimed the ping and ended without an outcome. A ping is not sent twice.
  return { delivered: false, status: 0, durationMs: waited() };
}

function tooManyPings(): MediaError {
  return new MediaError(
    'rate_limited',
    `${MAX_PINGS} tests of webhook endpoints are running, which is the limit. Wait for one to end.`,
  );
}

function notSent(): MediaError {
  return new MediaError('engine_busy', 'No sender of webhooks was free, so the ping was not sent. Try again.');
}
