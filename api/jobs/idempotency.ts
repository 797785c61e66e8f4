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
import type { AccountCaller } from '#api/accounts/find-caller.ts';
import type { Dependencies } from '#api/dependencies.ts';
import { claimKey, findKey, releaseKey, storeResponse, type IdempotencyScope } from '#api/jobs/idempotency-rows.ts';
import type { Queryable } from '#api/store/database.ts';
import { MediaError } from '#crds/contract/media-error.ts';
import { LIMITS } from '#crds/catalogue/plans.ts';
import { faultPoint } from '#crds/process/fault-point.ts';

const LEASE_SECONDS = 60;
/** Statuses of refusals that depend on the body only: a repeated request gets the same one. */
const STORED_REFUSALS: readonly (number | null)[] = [400, 413, 415];
/** Status that is stored with a created object. */
const ACCEPTED = 202;

/** Function that stores the created object in the transaction that creates it. */
export type StoreResponse = (tx: Queryable, created: object) => Promise<void>;

/** Outcome of a request: of its own handler, or the stored one of the first request with its key. */
export type Handled<Created> =
  | { readonly kind: 'created' | 'replayed'; readonly created: Created }
  | { readonly kind: 'replayed_refusal'; readonly refusal: MediaError };

type IdempotencyDeps = Pick<Dependencies, 'database' | 'clock'>;

interface IdempotentRequest {
  readonly accountId: string;
  readonly livemode: boolean;
  /** null: the request is handled without idempotency. */
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

interface KeyedRequest {
  readonly caller: Pick<AccountCaller, 'account' | 'livemode'>;
  /** The header as it was sent. */
  readonly idempotencyKey: string | string[] | undefined;
}

/** Returns whether the header has a key that was used before. It may have been for another body. */
export async function isUsedKey(
  { database }: Pick<IdempotencyDeps, 'database'>,
  { caller: { account, livemode }, idempotencyKey: key }: KeyedRequest,
): Promise<boolean> {
  return typeof key === 'string' && (await findKey(database, { accountId: account.id, livemode, key })) !== null;
}

/**
 * Handles a request and returns its outcome; returns the stored outcome when the key is repeated. Without a key there is
 * nothing to store.
 * @throws MediaError idempotency_conflict, idempotency_in_progress, and those of `handle`
 */
export async function handleOnce<Created extends { readonly id: string }>(
  deps: IdempotencyDeps,
  request: IdempotentRequest,
  handle: (store: StoreResponse | null) => Promise<Created>,
): Promise<Handled<Created>> {
  if (request.key === null) return { kind: 'created', created: await handle(null) };
  const scope: IdempotencyScope = { accountId: request.accountId, livemode: request.livemode, key: request.key };
  const fingerprint = createHash('sha256').update(request.raw).digest();
  const leaseUntil = await claim(deps, scope, fingerprint);
  if (leaseUntil === null) return readStored<Created>(deps, scope, fingerprint);
  try {
    await faultPoint('after-idempotency-claim');
    const created = await handle(async (tx, object) => {
      const response = { leaseUntil, status: ACCEPTED, body: JSON.stringify(object) };
      if (!(await storeResponse(tx, scope, response))) throw inProgress();
    });
    return { kind: 'created', created };
  } catch (error) {
    await settleRefusal(deps, scope, { leaseUntil, error });
    throw error;
  }
}

async function settleRefusal(
  { database }: Pick<IdempotencyDeps, 'database'>,
  scope: IdempotencyScope,
  { leaseUntil, error }: { leaseUntil: Date; error: unknown },
): Promise<void> {
  if (!(error instanceof MediaError) || error.status === null || !STORED_REFUSALS.includes(error.status)) {
    await releaseKey(database, scope, leaseUntil);
    return;
  }
  const { code, message, param } = error;
  await storeResponse(database, scope, {
    leaseUntil,
    status: error.status,
    body: JSON.stringify({ code, message, param }),
  });
}

/** Claims the key. Returns the end of its lease, which also identifies this claim; null when the key is not free. */
async function claim(
  { database, clock }: IdempotencyDeps,
  scope: IdempotencyScope,
  fingerprint: Buffer,
): Promise<Date | null> {
  const now = clock.now();
  const leaseUntil = new Date(now.getTime() + LEASE_SECONDS * 1000 + randomInt(1000));
  const forgottenBefore = new Date(now.getTime() - LIMITS.idempotencySeconds * 1000);
  return (await claimKey(database, scope, { fingerprint, now, leaseUntil, forgottenBefore })) ? leaseUntil : null;
}

async function readStored<Created extends { readonly id: string }>(
  { database }: Pick<IdempotencyDeps, 'database'>,
  scope: IdempotencyScope,
  fingerprint: Buffer,
): Promise<Handled<Created>> {
  const known = await findKey(database, scope);
  if (known === null) throw inProgress();
  if (!known.fingerprint.equals(fingerprint)) {
    const message =
      'This `Idempotency-Key` was used within 24 hours with another body. Use a new key for a new request.';
    throw new MediaError('idempotency_conflict', message, { param: 'Idempotency-Key' });
  }
  if (known.body === null) throw inProgress();
  const stored = JSON.parse(known.body) as Created | StoredRefusal;
  if ('id' in stored) return { kind: 'replayed', created: stored };
  const { code, message, param } = stored;
  return { kind: 'replayed_refusal', refusal: new MediaError(code, message, param === null ? {} : { param }) };
}

/** Fields of a refusal that are the same in every response. */
type StoredRefusal = Pick<MediaError, 'code' | 'message' | 'param'>;

function inProgress(): MediaError {
  return new MediaError(
    'idempotency_in_progress',
    'The first request with this `Idempotency-Key` is still being handled. Send the same request again in a second.',
  );
}
