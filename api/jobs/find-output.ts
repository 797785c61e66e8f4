import type { Readable } from 'node:stream';
import type { AccountCaller } from '#api/accounts/find-caller.ts';
import type { Dependencies } from '#api/dependencies.ts';
import { outputName } from '#api/files/output-name.ts';
import type { Job } from '#api/jobs/job.ts';
import { outputPath } from '#api/jobs/job-object.ts';
import { findJob } from '#api/jobs/job-rows.ts';
import { jobNotFound, readJob } from '#api/jobs/read-jobs.ts';
import { FORMATS } from '#crds/catalogue/formats.ts';
import { MediaError } from '#crds/contract/media-error.ts';
import { verifySignedUrl } from '#api/files/signed-url.ts';

type OutputDeps = Pick<Dependencies, 'database' | 'clock' | 'files'>;

export interface JobOutput {
  readonly filename: string;
  readonly mediaType: string;
  /** Size in bytes. */
  readonly size: number;
  /** Strong ETag in quotes. */
  readonly etag: string;
  /** Returns the bytes of the file or of a range, both ends included. @throws MediaError not_found when it is deleted */
  readonly open: (range: { readonly start: number; readonly end: number } | null) => Promise<Readable>;
}

/** Returns the output of a job of the caller. @throws MediaError not_found */
export async function findOutput(
  deps: OutputDeps,
  { caller, input }: { caller: Pick<AccountCaller, 'account' | 'livemode'>; input: { readonly id: string } },
): Promise<JobOutput> {
  return outputOf(deps, await readJob(deps, { caller, input }));
}

/**
 * Returns the output that a signed link names (docs/reference/jobs.md#download). Checks the signature first, so that a
 * request without one does not learn whether the job exists.
 * @throws MediaError invalid_signature, not_found
 */
export async function findLinkedOutput(
  deps: OutputDeps & Pick<Dependencies, 'linkKeys'>,
  { input: { id, query } }: { input: { readonly id: string; readonly query: string } },
): Promise<JobOutput> {
  const link = { method: 'GET', path: outputPath(id), query, now: deps.clock.now() } as const;
  const verdict = verifySignedUrl(deps.linkKeys, link);
  if (verdict !== 'valid') {
    const problem = verdict === 'expired' ? 'has expired' : 'was altered';
    throw new MediaError('invalid_signature', `This download link ${problem}. Retrieve the job again for a new link.`);
  }
  const job = await findJob(deps.database, id);
  if (job === null) throw jobNotFound(id);
  return outputOf(deps, job);
}

async function outputOf({ files, clock }: OutputDeps, job: Job): Promise<JobOutput> {
  const { outputKey: key, result } = job;
  const isExpired = job.expiresAt !== null && job.expiresAt <= clock.now();
  if (key === null || result === null || job.filesDeletedAt !== null || isExpired) throw noOutput(job);
  const head = await files.head(key);
  if (head === null) throw noOutput(job);
  return {
    filename: outputName(job.inputFilename, result),
    mediaType: FORMATS[result.output_format].mediaType,
    size: head.size,
    etag: head.etag,
    open: async (range) => {
      const object = await files.get(key, range ?? undefined);
      if (object === null) throw noOutput(job);
      return object.body;
    },
  };
}

function noOutput(job: Job): MediaError {
  const why: Record<Job['status'], string> = {
    queued: 'it has not finished',
    processing: 'it has not finished',
    failed: 'it failed',
    canceled: 'it was canceled',
    succeeded: job.outputKey === null ? 'its output was sent to your own storage' : 'its output was deleted',
  };
  return new MediaError('not_found', `The job has no output to download: ${why[job.status]}.`);
}
