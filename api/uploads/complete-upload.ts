/**
 * Completion of an upload in parts. One call at a time joins them, under a lease (states: upload-join-rows.ts). Other
 * calls wait for its end. They join the parts themselves when it failed or when its process died.
 */
import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import type { Dependencies } from '#api/dependencies.ts';
import type { Uploader } from '#api/uploads/create-upload.ts';
import { openMultipart } from '#api/uploads/receive-upload.ts';
import { contentKey, partKey, partSizes } from '#api/uploads/upload.ts';
import { claimJoin, extendJoin, recordJoined, releaseJoin, type Join } from '#api/uploads/upload-join-rows.ts';
import { findUpload, selectPartNumbers } from '#api/uploads/upload-rows.ts';
import { collectFirstBytes, possibleKinds, type FirstBytes } from '#crds/contract/first-bytes.ts';
import { MediaError } from '#crds/contract/media-error.ts';
import { faultPoint } from '#crds/process/fault-point.ts';

type CompleteDeps = Pick<Dependencies, 'database' | 'clock' | 'files' | 'log'>;

interface Completion {
  readonly id: string;
  /** Aborts the wait for another call. A join that has begun is finished. */
  readonly signal: AbortSignal;
}

const LEASE_MS = 15_000;
/** Interval between extensions of the lease: one that fails leaves time for another. */
const EXTEND_MS = 5000;
/** Maximum wait for a call that joins the parts. Longer than a lease, so that a call outlasts a process that died. */
const WAIT_MS = 25_000;
const POLL_MS = 1000;

/**
 * Joins the parts. Idempotent, so it can be repeated after a crash. Returns the size of the content in bytes.
 * @throws MediaError upload_incomplete, upload_already_completed, not_found; engine_busy when another call has not
 * joined the parts in time.
 */
export async function completeUpload(
  deps: CompleteDeps,
  { caller, input }: { caller: Uploader; input: Completion },
): Promise<{ size: number }> {
  const { id, size } = await openMultipart(deps, caller, input.id);
  const count = partSizes(size).length;
  await refuseMissingParts(deps, id, count);
  const join = { uploadId: id, attempt: await waitForJoin(deps, caller, input) };
  try {
    await joinAndRecord(deps, join, { size, count });
  } catch (error) {
    const isOurs = await releaseJoin(deps.database, join);
    await refuseEnded(deps, caller, id);
    throw isOurs ? error : stillJoining(error);
  }
  await faultPoint('after-upload-completed');
  for (let number = 1; number <= count; number += 1) await deps.files.delete(partKey(id, number));
  return { size };
}

async function refuseMissingParts({ database }: CompleteDeps, id: string, count: number): Promise<void> {
  const sent = await selectPartNumbers(database, id);
  const missing = Array.from({ length: count }, (_, index) => index + 1).filter((number) => !sent.has(number));
  if (missing.length === 0) return;
  const message = `These parts are missing: ${missing.join(', ')}. Send them, then complete again.`;
  throw new MediaError('upload_incomplete', message);
}

/** Waits until no other call joins the parts. Returns the attempt that this call has claimed. */
async function waitForJoin(deps: CompleteDeps, caller: Uploader, { id, signal }: Completion): Promise<number> {
  const startedAt = deps.clock.now().getTime();
  for (;;) {
    const now = deps.clock.now();
    const attempt = await claimJoin(deps.database, id, { now, leaseUntil: leaseFrom(now) });
    if (attempt !== null) return attempt;
    await openMultipart(deps, caller, id);
    if (now.getTime() - startedAt >= WAIT_MS) throw stillJoining();
    await delay(POLL_MS, undefined, { signal });
  }
}

async function joinAndRecord(
  deps: CompleteDeps,
  join: Join,
  { size, count }: { size: number; count: number },
): Promise<void> {
  const { database, clock, files } = deps;
  const lost = new AbortController();
  const timer = setInterval(() => void keepLease(deps, join, lost), EXTEND_MS);
  try {
    const first = collectFirstBytes();
    const joined = Readable.from(joinParts(deps, { uploadId: join.uploadId, count, first, lost: lost.signal }));
    const { etag } = await files.put(contentKey(join.uploadId), joined, { maxBytes: size, size });
    await faultPoint('after-parts-joined');
    const content = { etag, kinds: possibleKinds(first.bytes()), at: clock.now() };
    if (!(await recordJoined(database, join, content))) throw new Error(`the lease of ${join.uploadId} was lost`);
  } finally {
    clearInterval(timer);
  }
}

/** Extends the lease; aborts a join that is stale. An error is only logged, because the next extension may succeed. */
async function keepLease({ database, clock, log }: CompleteDeps, join: Join, lost: AbortController): Promise<void> {
  try {
    if (!(await extendJoin(database, join, leaseFrom(clock.now())))) lost.abort();
  } catch (error) {
    log.warn({ err: error, upload_id: join.uploadId }, 'the lease of an upload could not be extended');
  }
}

interface PartsOfUpload {
  readonly uploadId: string;
  readonly count: number;
  readonly first: FirstBytes;
  readonly lost: AbortSignal;
}

async function* joinParts(
  { files }: Pick<Dependencies, 'files'>,
  { uploadId, count, first, lost }: PartsOfUpload,
): AsyncGenerator<Buffer> {
  for (let number = 1; number <= count; number += 1) {
    const part = await files.get(partKey(uploadId, number));
    if (part === null) throw new Error(`part ${number} of ${uploadId} is recorded but not in the file store`);
    for await (const chunk of part.body as AsyncIterable<Buffer>) {
      lost.throwIfAborted();
      first.add(chunk);
      yield chunk;
    }
  }
}

/**
 * Refuses an upload that was completed or deleted during a join. Deletes the content of a deleted one: the join may
 * have stored it after the clean-up.
 */
async function refuseEnded(deps: CompleteDeps, caller: Uploader, id: string): Promise<void> {
  const owner = { accountId: caller.account.id, now: deps.clock.now() };
  if ((await findUpload(deps.database, owner, id)) === null) await deps.files.delete(contentKey(id));
  await openMultipart(deps, caller, id);
}

function leaseFrom(now: Date): Date {
  return new Date(now.getTime() + LEASE_MS);
}

function stillJoining(cause?: unknown): MediaError {
  const message = `Another request is joining the parts of this upload; this one waits for it for at most ${WAIT_MS / 1000} seconds. Send it again: it is refused with \`upload_already_completed\` once they are joined.`;
  return new MediaError('engine_busy', message, { cause });
}
