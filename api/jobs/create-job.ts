/**
 * `POST /v1/jobs`: body → idempotency → fields → addresses → preset → options → target format → input (a sample in test
 * mode) → HEIC output → unfinished jobs → spend reservation → insert. The committed row acknowledges the job. MediaJob,
 * run and events are derived from it.
 */
import type { AccountCaller } from '#api/accounts/find-caller.ts';
import { workOrderOf } from '#api/accounts/work-order-of.ts';
import { lockAccount } from '#api/accounts/account-rows.ts';
import { largestCost } from '#api/billing/largest-cost.ts';
import { reservationRefusal } from '#api/billing/spend-cap.ts';
import type { Dependencies } from '#api/dependencies.ts';
import { parseFields } from '#api/fields/parse-fields.ts';
import { handleOnce, type Handled, type StoreResponse } from '#api/jobs/idempotency.ts';
import type { Job } from '#api/jobs/job.ts';
import { jobObject, type JobObject } from '#api/jobs/job-object.ts';
import { jobRequestSchema, type JobRequest } from '#api/jobs/job-request.ts';
import { finishJobIn, type FinishDeps } from '#api/jobs/finish-job.ts';
import { countUnfinishedJobs, insertJob, type NewJob } from '#api/jobs/job-rows.ts';
import { CHANGES_CHANNEL, notifyCourier } from '#api/store/changes-channel.ts';
import { presetOptions } from '#api/presets/preset-options.ts';
import type { Queryable } from '#api/store/database.ts';
import { notify } from '#api/store/listen.ts';
import { inputOfUpload } from '#api/uploads/input-of-upload.ts';
import { claimUpload } from '#api/uploads/upload-rows.ts';
import { insertTransfer } from '#api/transfers/transfer-rows.ts';
import { sealUrl, urlContext } from '#api/webhooks/stored-url.ts';
import { responseFilename } from '#api/transfers/response-filename.ts';
import { formatOfName, KINDS, type Kind } from '#crds/catalogue/formats.ts';
import { MediaError, throwIfRefused } from '#crds/contract/media-error.ts';
import { refusalOf } from '#crds/contract/work-rules.ts';
import { mergeOptions, parseJsonOptions, resolveOptions } from '#crds/catalogue/options/options.ts';
import { LIMITS, PLANS } from '#crds/catalogue/plans.ts';
import { checkTargetUrl, withAsciiHost } from '#api/outbound/public-url.ts';
import { traceJob } from '#api/jobs/trace-job.ts';
import { faultPoint } from '#crds/process/fault-point.ts';

type CreateJobDeps = Pick<
  Dependencies,
  | 'database'
  | 'clock'
  | 'newId'
  | 'secretBox'
  | 'samples'
  | 'files'
  | 'baseUrl'
  | 'linkKeys'
  | 'privateTargets'
  | 'tracing'
>;

interface JobInput {
  /** Fields as sent: `jobRequestSchema` is applied after the key is claimed, so that its refusals are stored. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** Bytes of the request's body, which identify a repeated request. */
  readonly raw: Buffer;
  readonly idempotencyKey: string | null;
  /** Context of the span of the request; null without tracing. */
  readonly traceparent: string | null;
}

/**
 * Creates a job and returns the job object. A request with a known key gets the stored outcome of the first one.
 * @throws MediaError of the first check that refuses
 */
export async function createJob(
  deps: CreateJobDeps,
  { caller, input }: { caller: AccountCaller; input: JobInput },
): Promise<Handled<JobObject>> {
  const { account, livemode } = caller;
  const request = { accountId: account.id, livemode, key: input.idempotencyKey, raw: input.raw };
  return handleOnce(deps, request, async (store) => {
    const newJob = await readNewJob(deps, caller, parseFields(jobRequestSchema, input.fields));
    const { traceparent } = input;
    const job = await admit(deps, { caller, newJob: { ...newJob, traceparent }, store });
    traceJob(deps.tracing, job);
    await faultPoint('after-job-insert');
    return jobObject(deps, job);
  });
}

type ParsedJob = Omit<NewJob, 'traceparent'>;

async function readNewJob(deps: CreateJobDeps, caller: AccountCaller, fields: JobRequest): Promise<ParsedJob> {
  refuseAddresses(deps, fields);
  const preset = await presetOptions(deps, { accountId: caller.account.id, preset: fields.preset });
  const options = resolveOptions(mergeOptions(preset, parseJsonOptions(fields.options ?? {})), fields.operation);
  const order = workOrderOf(caller.account, fields.operation, options);
  throwIfRefused(refusalOf(order, { by: 'nothing' }, 'job'));
  const id = deps.newId('job');
  const { kinds, ...input } = await readInput(deps, { caller, fields, jobId: id });
  const { url } = fields.input;
  const format = formatOfName(input.inputFilename ?? (url === undefined ? null : responseFilename(null, url)));
  throwIfRefused(refusalOf(order, { by: 'name', format }, 'job'));
  const newJob = {
    id,
    accountId: caller.account.id,
    keyId: caller.actor.kind === 'api_key' ? caller.actor.keyId : null,
    livemode: caller.livemode,
    ...order,
    createdAt: deps.clock.now(),
    ...input,
    webhookUrl: fields.webhook_url == null ? null : sealUrl(deps.secretBox, fields.webhook_url, urlContext.job(id)),
    retentionSeconds: fields.retention_seconds ?? LIMITS.retentionSeconds.default,
    metadata: fields.metadata ?? {},
    outputTarget: fields.output == null ? null : sealOutputTarget(deps, id, fields.output),
  };
  return {
    ...newJob,
    reservedMicroUsd: caller.livemode ? largestCost({ ...newJob, lane: 'job', kinds }) : 0,
  };
}

type InputFields = Pick<
  NewJob,
  'uploadId' | 'inputKey' | 'inputEtag' | 'inputFilename' | 'inputSize' | 'inputStored' | 'inputUrl'
> & {
  /** Kinds that the content may have. */
  readonly kinds: readonly Kind[];
};

async function readInput(
  deps: Pick<CreateJobDeps, 'database' | 'clock' | 'samples' | 'files' | 'secretBox'>,
  { caller, fields, jobId }: { caller: AccountCaller; fields: JobRequest; jobId: string },
): Promise<InputFields> {
  const { upload, url } = fields.input;
  if (upload !== undefined) {
    return { ...(await inputOfUpload(deps, caller, upload)), uploadId: upload, inputStored: true, inputUrl: null };
  }
  if (url === undefined) throw new MediaError('bad_request', 'Give `input.upload` or `input.url`.', { param: 'input' });
  if (!caller.livemode) {
    const message = 'A test key accepts only published sample files, from an upload; it cannot use `input.url`.';
    throw new MediaError('test_mode_sample_required', message, { param: 'input.url' });
  }
  return {
    uploadId: null,
    inputKey: ownInputKey(jobId),
    inputEtag: null,
    inputFilename: null,
    inputSize: null,
    inputStored: false,
    inputUrl: deps.secretBox.seal(withAsciiHost(url), `job-input:${jobId}`),
    kinds: KINDS,
  };
}

/**
 * Checks the limits, reserves and inserts under the account's lock, so that limits hold for concurrent requests. The job
 * that it returns has failed already when another job has claimed its upload.
 */
async function admit(
  deps: CreateJobDeps,
  { caller, newJob, store }: { caller: AccountCaller; newJob: NewJob; store: StoreResponse | null },
): Promise<Job> {
  return deps.database.transaction(async (tx) => {
    // Sent together: each statement sees what was committed while the one before waited for its lock.
    const [, unfinished, refusal] = await Promise.all([
      lockAccount(tx, caller.account.id),
      countUnfinishedJobs(tx, caller.account.id),
      reservationRefusal(deps, tx, { caller, reserveMicroUsd: newJob.reservedMicroUsd }),
    ]);
    refuseOverLimit(caller, unfinished);
    throwIfRefused(refusal);
    const hasInput = newJob.uploadId === null || (await claimUpload(tx, { id: newJob.uploadId, jobId: newJob.id }));
    await faultPoint('before-job-commit');
    const inserted = hasInput ? insertJob(tx, newJob) : insertWithoutInput(deps, tx, newJob);
    const notified = notify(tx, CHANGES_CHANNEL, newJob.id);
    const queued = newJob.inputStored ? [] : queueInputFetch(tx, newJob);
    if (hasInput && store === null) tx.commitNow();
    const [job] = await Promise.all([inserted, notified, ...queued]);
    await store?.(tx, jobObject(deps, job));
    return job;
  });
}

/** Queues the fetch of `input.url` and notifies the courier. */
function queueInputFetch(tx: Queryable, { id, createdAt }: NewJob): Promise<void>[] {
  return [insertTransfer(tx, { jobId: id, direction: 'fetch', nextAt: createdAt }), notifyCourier(tx, 'transfers')];
}

/** Inserts a job and fails it: another job claimed its upload first (docs/reference/errors.md#input_missing). */
async function insertWithoutInput(deps: FinishDeps, tx: Queryable, newJob: NewJob): Promise<Job> {
  // Ending a job deletes its input. The upload belongs to the other job, so this row names a key without an object.
  const { id } = await insertJob(tx, { ...newJob, uploadId: null, inputKey: ownInputKey(newJob.id), inputEtag: null });
  const message = 'The upload was used by another job or no longer exists. Create a new upload for each job.';
  const ending = { kind: 'failed', fence: null, error: { code: 'input_missing', message } } as const;
  const ended = await finishJobIn(deps, tx, { jobId: id, ending });
  if (ended === null) throw new Error(`job ${id} ended before it was created`);
  return ended;
}

function ownInputKey(jobId: string): string {
  return `inputs/${jobId}`;
}

function refuseOverLimit({ account }: AccountCaller, unfinished: number): void {
  const limit = PLANS[account.plan].concurrentJobs;
  if (unfinished < limit) return;
  const message = `${unfinished} jobs are queued or processing; the plan ${account.plan} allows ${limit}. Wait for one to finish.`;
  throw new MediaError('concurrency_limited', message, { retryAfterSeconds: 5 });
}

function refuseAddresses({ privateTargets }: Pick<CreateJobDeps, 'privateTargets'>, fields: JobRequest): void {
  const check = (url: string | null | undefined, purpose: 'webhook' | 'output' | 'input', param: string): void => {
    if (url != null) checkTargetUrl(url, { purpose, privateTargets, param });
  };
  check(fields.input.url, 'input', 'input.url');
  check(fields.webhook_url, 'webhook', 'webhook_url');
  check(fields.output?.url, 'output', 'output.url');
}

function sealOutputTarget(
  { secretBox }: Pick<CreateJobDeps, 'secretBox'>,
  jobId: string,
  output: NonNullable<JobRequest['output']>,
): Buffer {
  const target = JSON.stringify({ url: withAsciiHost(output.url), headers: output.headers ?? {} });
  return secretBox.seal(target, `job-output:${jobId}`);
}
