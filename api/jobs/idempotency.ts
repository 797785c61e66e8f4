/**
 * Idempotency of job creation. Scope: account, mode and key; fingerprint: SHA-256 of the raw body.
 *
 *   (free) ──claim──→ being handled ──the job's own transaction, or a refusal of──→ stored ──24 h──→ (free)
 *                          │          the body itself (400, 413, 415)
 *                          └──any other refusal: a retry may get past it──→ (free)
 *
 * A handler that dies leaves its claim; after the lease the next identical request takes it over.
 */
import { createHash, randomInt } from 'node:crypto';
import type { ApiReply } from '#api/endpoint.ts';
import { refusal } from '#api/http/refusal.ts';
import { claimKey, findKey, releaseKey, storeAnswer, type IdempotencyScope } from '#api/jobs/idempotency-rows.ts';
import type { Database, Queryable } from '#api/store/database.ts';
import { MediaError } from '#crds/media-error.ts';
import { LIMITS } from '#crds/plans.ts';
import type { Clock } from '#crds/shared/clock.ts';
import { faultPoint } from '#crds/shared/fault-point.ts';
import type { Log } from '#crds/shared/log.ts';

const LEASE_SECONDS = 60;
const KEPT_REFUSALS: readonly (number | null)[] = [400, 413, 415];
const REPLAYED = { 'Svc-Idempotent-Replayed': 'true' };

/** Stores the answer inside the transaction that makes the job. */
export type StoreAnswer = (tx: Queryable, answer: { status: number; body: object }) => Promise<void>;

interface IdempotencyDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly docsUrl: string;
}

interface Request {
  /** `req_…` of this request. */
  readonly id: string;
  readonly accountId: string;
  readonly livemode: boolean;
  readonly key: string | null;
  readonly raw: Buffer;
}

/**
 * The form of the `Idempotency-Key` header; null when there is none.
 * @throws MediaError bad_request
 */
export function readIdempotencyKey(header: string | string[] | undefined): string | null {
  if (header === undefined) return null;
  const key = Array.isArray(header) ? header.join(',') : header;
  if (key.length >= 1 && key.length <= LIMITS.idempotencyKeyLength) return key;
  const message = `\`Idempotency-Key\` has ${key.length} characters; it may have 1 to ${LIMITS.idempotencyKeyLength}.`;
  throw new MediaError('bad_request', message, { param: 'Idempotency-Key' });
}

/** Handles the request once; a repeat gets the first answer. Without a key it just handles it. */
export async function once(
  deps: IdempotencyDeps,
  request: Request,
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
  if (!(error instanceof MediaError) || error.status === null || !KEPT_REFUSALS.includes(error.status)) {
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

/** The lease's end, which also tells this claim from any other; null when the key is taken. */
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

/** The job object, or the refusal without what belongs to one response. */
type StoredBody = { readonly id: string } | Pick<MediaError, 'code' | 'message' | 'param'>;

function inProgress(): MediaError {
  return new MediaError(
    'idempotency_in_progress',
    'The first request with this `Idempotency-Key` is still being handled. Send the same request again in a second.',
  );
}
