/**
 * `POST /v1/webhook_endpoints/{id}/test`. This process talks to no address that a caller chose: it leaves
 * the ping for the courier and answers what came of it.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { lockAccount } from '#api/accounts/account-rows.ts';
import type { ApiDeps } from '#api/api-deps.ts';
import type { ApiReply, CallerRequest } from '#api/endpoint.ts';
import { JOBS_CHANNEL } from '#api/jobs/jobs-channel.ts';
import { notify } from '#api/store/listen.ts';
import { namedEndpoint } from '#api/webhooks/change-webhook-endpoint.ts';
import { webhookEndpointNotFound } from '#api/webhooks/webhook-endpoint-object.ts';
import { findWebhookEndpoint } from '#api/webhooks/webhook-endpoint-rows.ts';
import { findPingEnd, insertPing, withdrawPing, type NewPing, type PingEnd } from '#api/webhooks/webhook-ping-rows.ts';
import { secretContext } from '#api/webhooks/webhook-secret.ts';
import { MediaError } from '#crds/media-error.ts';
import { checkTargetUrl } from '#crds/public-url.ts';

export const webhookTestSchema = z
  .object({
    object: z.literal('webhook_test'),
    event_id: z.string(),
    delivered: z.boolean(),
    status: z.int().meta({ description: 'Of the answer; 0 when none came.' }),
    duration_ms: z.int(),
  })
  .meta({ id: 'WebhookTest' });

const POLL_MS = 50;
/** A courier takes a ping at once unless there is none, or too much to do. */
const TAKEN_WITHIN_MS = 5000;
/** With the 10 seconds of the sending itself. */
const DONE_WITHIN_MS = 15_000;
/** Pings of one account under way at once. */
const MOST = 20;

/** Sends one `ping`, once; a paused endpoint stays paused. Spec: Webhook endpoints. */
export async function requestPing(deps: ApiDeps, request: CallerRequest): Promise<ApiReply> {
  const named = namedEndpoint(request);
  const endpoint = await findWebhookEndpoint(deps.database, named);
  if (endpoint === null) throw webhookEndpointNotFound(named.id);
  checkTargetUrl(endpoint.url, { purpose: 'webhook', privateTargets: deps.privateTargets, param: 'url' });
  const eventId = deps.newId('event');
  const secret = deps.secretBox.open(endpoint.sealedSecret, secretContext.endpoint(endpoint.id));
  const ping = {
    eventId,
    accountId: named.accountId,
    url: endpoint.url,
    sealedSecret: deps.secretBox.seal(secret, secretContext.ping(eventId)),
    livemode: request.caller.livemode,
    createdAt: deps.clock.now(),
  };
  await leave(deps, ping);
  const { delivered, status, durationMs } = await endOf(deps, ping, request.signal);
  return {
    status: 200,
    body: { object: 'webhook_test', event_id: eventId, delivered, status, duration_ms: durationMs },
  };
}

/** For the courier. The limit keeps one account's dead receivers from filling every place. */
async function leave({ database }: ApiDeps, ping: NewPing): Promise<void> {
  const since = new Date(ping.createdAt.getTime() - DONE_WITHIN_MS);
  const isLeft = await database.transaction(async (tx) => {
    await lockAccount(tx, ping.accountId);
    if (!(await insertPing(tx, ping, { most: MOST, since }))) return false;
    await notify(tx, JOBS_CHANNEL, ping.eventId);
    return true;
  });
  if (isLeft) return;
  throw new MediaError(
    'rate_limited',
    `${MOST} tests of webhook endpoints are under way, the most at once. Wait for one to end.`,
  );
}

async function endOf(
  { database, clock }: ApiDeps,
  { eventId, createdAt }: NewPing,
  signal: AbortSignal,
): Promise<PingEnd> {
  const waited = (): number => clock.now().getTime() - createdAt.getTime();
  for (let mayWithdraw = true; waited() < DONE_WITHIN_MS;) {
    await delay(POLL_MS, undefined, { signal });
    const end = await findPingEnd(database, eventId);
    if (end !== null) return end;
    if (!mayWithdraw || waited() < TAKEN_WITHIN_MS) continue;
    if (await withdrawPing(database, eventId)) throw notSent();
    mayWithdraw = false;
  }
  // Taken and never reported: the courier has died with it. A ping is not sent twice.
  return { delivered: false, status: 0, durationMs: waited() };
}

function notSent(): MediaError {
  return new MediaError('engine_busy', 'No sender of webhooks was free, so the ping was not sent. Try again.');
}
