/**
 * `POST /v1/jobs`: body → idempotency → fields → addresses → preset → options → target format → input, in test
 * mode a sample → HEIC output → unfinished jobs → spend reservation → insert. The row is the acknowledgement:
 * everything after it (MediaJob, run, events) follows from PostgreSQL.
 */
import type { Caller } from '#api/accounts/find-caller.ts';
import { featuresOf } from '#api/accounts/features-of.ts';
import { lockAccount } from '#api/accounts/account-rows.ts';
import type { ApiDeps } from '#api/api-deps.ts';
import { largestCost } from '#api/billing/largest-cost.ts';
import { reservationRefusal } from '#api/billing/spend-cap.ts';
import type { ApiReply, CallerRequest } from '#api/endpoint.ts';
import { parseFields, readJsonBody } from '#api/http/json-body.ts';
import { once, readIdempotencyKey, type StoreAnswer } from '#api/jobs/idempotency.ts';
import type { Job } from '#api/jobs/job.ts';
import { jobObject } from '#api/jobs/job-object.ts';
import { jobRequestSchema, type JobRequest } from '#api/jobs/job-request.ts';
import { countUnfinishedJobs, insertJob, type NewJob } from '#api/jobs/job-rows.ts';
import { JOBS_CHANNEL } from '#api/jobs/jobs-channel.ts';
import { refuseHeicOutput } from '#api/jobs/refuse-heic-output.ts';
import { presetOptions } from '#api/presets/preset-options.ts';
import type { Queryable } from '#api/store/database.ts';
import { notify } from '#api/store/listen.ts';
import { inputOfUpload } from '#api/uploads/input-of-upload.ts';
import { claimUpload } from '#api/uploads/upload-rows.ts';
import { insertTransfer } from '#api/transfers/transfer-rows.ts';
import { MediaError } from '#crds/media-error.ts';
import { mergeOptions, parseJsonOptions, resolveOptions, type ResolvedOptions } from '#crds/options/options.ts';
import { fileLimits, LIMITS, PLANS } from '#crds/plans.ts';
import { checkTargetUrl } from '#crds/public-url.ts';
import { faultPoint } from '#crds/shared/fault-point.ts';

export async function createJob(deps: ApiDeps, request: CallerRequest): Promise<ApiReply> {
  const { raw, object } = await readJsonBody(request);
  const { account, livemode } = request.caller;
  const key = readIdempotencyKey(request.headers['idempotency-key']);
  return once(deps, { id: request.id, accountId: account.id, livemode, key, raw }, async (store) => {
    const newJob = await readNewJob(deps, request.caller, parseFields(jobRequestSchema, object));
    const job = await admit(deps, { caller: request.caller, newJob, store });
    await faultPoint('after-job-insert');
    return { status: 202, headers: { Location: `/v1/jobs/${job.id}` }, body: jobObject(deps, job) };
  });
}

async function readNewJob(deps: ApiDeps, caller: Caller, fields: JobRequest): Promise<NewJob> {
  refuseAddresses(deps, fields);
  const preset = await presetOptions(deps, { accountId: caller.account.id, preset: fields.preset });
  const options = resolveOptions(mergeOptions(preset, parseJsonOptions(fields.options ?? {})), fields.operation);
  refuseMissingFormat(fields, options);
  const id = deps.newId('job');
  const input = await readInput(deps, { caller, fields, jobId: id });
  const features = featuresOf(caller.account);
  const name = input.inputFilename ?? fields.input.url ?? null;
  refuseHeicOutput({ operation: fields.operation, options, features, name });
  const newJob = {
    id,
    accountId: caller.account.id,
    livemode: caller.livemode,
    operation: fields.operation,
    createdAt: deps.clock.now(),
    ...input,
    options,
    limits: fileLimits(caller.account.plan),
    features,
    webhookUrl: fields.webhook_url ?? null,
    retentionSeconds: fields.retention_seconds ?? LIMITS.retentionSeconds.default,
    metadata: fields.metadata ?? {},
    outputTarget: fields.output == null ? null : sealOutputTarget(deps, id, fields.output),
  };
  return {
    ...newJob,
    reservedMicroUsd: caller.livemode ? largestCost({ ...newJob, lane: 'job', filename: newJob.inputFilename }) : 0,
  };
}

type InputFields = Pick<
  NewJob,
  'uploadId' | 'inputKey' | 'inputEtag' | 'inputFilename' | 'inputSize' | 'inputStored' | 'inputUrl'
>;

async function readInput(
  deps: ApiDeps,
  { caller, fields, jobId }: { caller: Caller; fields: JobRequest; jobId: string },
): Promise<InputFields> {
  const { upload, url } = fields.input;
  if (upload !== undefined) {
    return { ...(await inputOfUpload(deps, caller, upload)), uploadId: upload, inputStored: true, inputUrl: null };
  }
  if (url === undefined) throw new MediaError('bad_request', 'Give `input.upload` or `input.url`.', { param: 'input' });
  if (!caller.livemode) {
    const message = 'A test key takes published sample files from an upload; it cannot use `input.url`.';
    throw new MediaError('test_mode_sample_required', message, { param: 'input.url' });
  }
  return {
    uploadId: null,
    inputKey: `inputs/${jobId}`,
    inputEtag: null,
    inputFilename: null,
    inputSize: null,
    inputStored: false,
    inputUrl: deps.secretBox.seal(url, `job-input:${jobId}`),
  };
}

/** Counts, reserves and inserts under the account's lock, so that limits hold among parallel requests. */
async function admit(
  deps: ApiDeps,
  { caller, newJob, store }: { caller: Caller; newJob: NewJob; store: StoreAnswer },
): Promise<Job> {
  return deps.database.transaction(async (tx) => {
    await lockAccount(tx, caller.account.id);
    await refuseOverLimit(tx, caller);
    const refusal = await reservationRefusal(deps, tx, { caller, reserveMicroUsd: newJob.reservedMicroUsd });
    if (refusal !== null) throw refusal;
    const job = await insertJob(tx, newJob);
    if (newJob.uploadId !== null) await claimUpload(tx, { id: newJob.uploadId, jobId: job.id });
    if (!newJob.inputStored) await insertTransfer(tx, { jobId: job.id, direction: 'fetch', nextAt: newJob.createdAt });
    await store(tx, { status: 202, body: jobObject(deps, job) });
    await notify(tx, JOBS_CHANNEL, job.id);
    await faultPoint('before-job-commit');
    return job;
  });
}

async function refuseOverLimit(tx: Queryable, { account }: Caller): Promise<void> {
  const unfinished = await countUnfinishedJobs(tx, account.id);
  const limit = PLANS[account.plan].concurrentJobs;
  if (unfinished < limit) return;
  const message = `${unfinished} jobs are queued or processing; the plan ${account.plan} allows ${limit}. Wait for one to finish.`;
  throw new MediaError('concurrency_limited', message, { retryAfterSeconds: 5 });
}

function refuseAddresses({ privateTargets }: ApiDeps, fields: JobRequest): void {
  const check = (url: string | null | undefined, purpose: 'webhook' | 'output' | 'input', param: string): void => {
    if (url != null) checkTargetUrl(url, { purpose, privateTargets, param });
  };
  check(fields.input.url, 'input', 'input.url');
  check(fields.webhook_url, 'webhook', 'webhook_url');
  check(fields.output?.url, 'output', 'output.url');
}

function refuseMissingFormat({ operation }: JobRequest, options: ResolvedOptions): void {
  if (operation !== 'convert' || options.convert.to !== null) return;
  throw new MediaError('invalid_options', 'Convert needs a target format in `convert.to`.', { param: 'convert.to' });
}

function sealOutputTarget(deps: ApiDeps, jobId: string, output: NonNullable<JobRequest['output']>): Buffer {
  const target = JSON.stringify({ url: output.url, headers: output.headers ?? {} });
  return deps.secretBox.seal(target, `job-output:${jobId}`);
}
