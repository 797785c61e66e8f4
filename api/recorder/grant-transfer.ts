/** Signed URLs for the transfers of running attempts, made when a worker asks for them. */
import type { Dependencies } from '#api/dependencies.ts';
import type { FileStore } from '#api/files/file-store.ts';
import { isUnfinished, outputKey, type Job } from '#api/jobs/job.ts';
import { findJob } from '#api/jobs/job-rows.ts';
import type { DescribeInput, RunInputRequest } from '#crds/contract/run-input.ts';
import type { GrantTransfer, Transfer, TransferGrant } from '#crds/contract/transfer-urls.ts';

/** Time in which a transfer has to begin after its URL was signed, in seconds. It may last longer. */
const BEGIN_SECONDS = 900;

/** Returns a function that signs the URLs of current attempts. Each attempt of a MediaJob has its own output. */
export function makeGrantTransfer({ database, files }: Pick<Dependencies, 'database' | 'files'>): GrantTransfer {
  return async ({ transfer, ...run }) => {
    const job = await findCurrent({ database }, run);
    if (job === null) return null;
    const { attempt, dispatch } = run;
    const keys = { input: job.inputKey, output: outputKey(job, dispatch, attempt) };
    return grantFromStore(files, keys, transfer);
  };
}

/** Returns a function that returns file name and ETag of the input of current attempts. */
export function makeDescribeInput(deps: Pick<Dependencies, 'database'>): DescribeInput {
  return async (run) => {
    const job = await findCurrent(deps, run);
    return job === null || job.inputEtag === null ? null : { filename: job.inputFilename, etag: job.inputEtag };
  };
}

/** Returns the job of an attempt; null when the attempt is not the current one. */
async function findCurrent(
  { database }: Pick<Dependencies, 'database'>,
  { jobId, attempt, dispatch }: RunInputRequest,
): Promise<Job | null> {
  const job = await findJob(database, jobId);
  if (job === null || !isUnfinished(job) || job.outputUpload !== null) return null;
  return job.dispatch !== dispatch || attempt < job.attempt ? null : job;
}

/** Returns the signed URL of a transfer, or the upload that was begun for an output in parts. */
export async function grantFromStore(
  files: FileStore,
  keys: { readonly input: string; readonly output: string },
  transfer: Transfer,
): Promise<TransferGrant> {
  switch (transfer.of) {
    case 'input':
      return { url: await files.signedGet(keys.input, BEGIN_SECONDS) };
    case 'output': {
      const upload = await files.beginParts(keys.output, transfer.size);
      return upload === null ? { url: await files.signedPut(keys.output, BEGIN_SECONDS) } : { upload };
    }
    case 'part':
      return { url: await files.signedPart(keys.output, transfer, BEGIN_SECONDS) };
    case 'completion':
      return { url: await files.signedCompletion(keys.output, transfer.uploadId, BEGIN_SECONDS) };
  }
}
