/**
 * Idempotency of job creation. Scope: account, mode and key; fingerprint: SHA-256 of the raw body.
 *
 *   (free) ──claim──→ in progress ──the job's transaction, or a refusal of──→ stored ──24 h──→ (free)
 *                          │        the body (400, 413, 415)
 *                          └──any other refusal: a retry may pass──→ (free)
 *
 * A handler that dies keeps its claim until the lease expires. Then the next identical request claims the key.
 */
import { createHash, randomInt } from 'node:crypto';
import type { ApiReply } from '#api/http/endpoint.ts';
import { refusal } from '#api/http/refusal.ts';
import { claimKey, findKey, releaseKey, storeAnswer, type IdempotencyScope } from '#api/jobs/idempotency-rows.ts';
import type { Database, Queryable } from '#api/store/database.ts';
import { MediaError } from '#crds/contract/media-error.ts';
import { LIMITS } from '#crds/catalogue/plans.ts';
import type { Clock } from '#crds/process/clock.ts';
import { faultPoint } from '#crds/process/fault-point.ts';
import type { Log } from '#crds/process/log.ts';

const LEASE_SECONDS = 60;
/** Statuses of refusals that depend on the body only: a repeated request gets the same one. */
const STORED_REFUSALS: readonly (number | null)[] = [400, 413, 415];
const REPLAYED = { 'Svc-Idempotent-Replayed': 'true' };

/** Function that stores the response in the transaction that inserts the job. */
export type StoreAnswer = (tx: Queryable, answer: { status: number; body: object }) => Promise<void>;

interface IdempotencyDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly docsUrl: string;
}

interface IdempotentRequest {
  /** Id of this request, `req_…`. */
  readonly id: string;
  readonly accountId: string;
  readonly livemode: boolean;
  readonly key: string | null;
  readonly raw: Buffer;
}

/**
 * Returns the value of the `Idempotency-Key` header; null when it is absent.
 * @throws MediaError bad_request
 */
export function readIdempotencyKey(header: string | string[] | undefined): string | null {
  if (header === undefined) return null;
  const key = Array.isArray(header) ? header.join(',') : header;
  if (key.length >= 1 && key.length <= LIMITS.idempotencyKeyLength) return key;
  const message = `\`Idempotency-Key\` has ${key.length} characters; it may have 1 to ${LIMITS.idempotencyKeyLength}.`;
  throw new MediaError('bad_request', message, { param: 'Idempotency-Key' });
}

/** Handles a request and returns its response; returns the stored response when the key is repeated. */
export async function handleOnce(
  deps: IdempotencyDeps,
  request: IdempotentRequest,
  handle: (store: StoreAnswer) => Promise<ApiReply>,
): Promise<ApiReply> {
  if (request.key === null) return handle(async () => {});
  const scope: IdempotencyScope = { accountId: request.accountId, livemode: request.livemode, key: request.key };
  const fingerprint = createHash('sha256').update(request.raw).digest();
  const leaseUntil = await claim(deps, scope, fingerprint);
  if (leaseUntil === null) return answerRepeat(deps, scope, { fingerprint, requestId: request.id });
  try {
    await faultPoint('after-idempotency-claim');
    return await handle(async (tx, answer) => {
      const stored = await storeAnswer(tx, scope, {
        leaseUntil,
        status: answer.status,
        body: JSON.stringify(answer.body),
      });
      if (!stored) throw inProgress();
    });
  } catch (error) {
    await settleRefusal(deps.database, scope, { leaseUntil, error });
    throw error;
  }
}

async function settleRefusal(
  database: Database,
  scope: IdempotencyScope,
  { leaseUntil, error }: { leaseUntil: Date; error: unknown },
): Promise<void> {
  if (!(error instanceof MediaError) || error.status === null || !STORED_REFUSALS.includes(error.status)) {
    await releaseKey(database, scope, leaseUntil);
    return;
  }
  const { code, message, param } = error;
  await storeAnswer(database, scope, {
    leaseUntil,
    status: error.status,
    body: JSON.stringify({ code, message, param }),
  });
}

/** Claims the key. Returns the end of its lease, which also identifies this claim; null when the key is not free. */
async function claim(
  { database, clock }: { database: Database; clock: Clock },
  scope: IdempotencyScope,
  fingerprint: Buffer,
): Promise<Date | null> {
  const now = clock.now();
  const leaseUntil = new Date(now.getTime() + LEASE_SECONDS * 1000 + randomInt(1000));
  const forgottenBefore = new Date(now.getTime() - LIMITS.idempotencySeconds * 1000);
  return (await claimKey(database, scope, { fingerprint, now, leaseUntil, forgottenBefore })) ? leaseUntil : null;
}

async function answerRepeat(
  deps: IdempotencyDeps,
  scope: IdempotencyScope,
  { fingerprint, requestId }: { fingerprint: Buffer; requestId: string },
): Promise<ApiReply> {
  const known = await findKey(deps.database, scope);
  if (known === null) throw inProgress();
  if (!known.fingerprint.equals(fingerprint)) {
    const message =
      'This `Idempotency-Key` was used within 24 hours with another body. Use a new key for a new request.';
    throw new MediaError('idempotency_conflict', message, { param: 'Idempotency-Key' });
  }
  if (known.status === null || known.body === null) throw inProgress();
  const body = JSON.parse(known.body) as StoredBody;
  if ('id' in body) return { status: known.status, headers: { ...REPLAYED, Location: `/v1/jobs/${body.id}` }, body };
  const error = new MediaError(body.code, body.message, body.param === null ? {} : { param: body.param });
  return { ...refusal(deps, { error, requestId }), headers: REPLAYED };
}

/** Stored response: the job object, or the fields of a refusal that are the same in every response. */
type StoredBody = { readonly id: string } | Pick<MediaError, 'code' | 'message' | 'param'>;

function inProgress(): MediaError {
  return new MediaError(
    'idempotency_in_progress',
    'The first request with this `Idempotency-Key` is still being handled. Send the same request again in a second.',
  );
}
