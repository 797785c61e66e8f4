import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Dependencies } from '#api/dependencies.ts';
import type { Uploader } from '#api/uploads/create-upload.ts';
import { contentKey } from '#api/uploads/upload.ts';
import { findUpload, type Upload } from '#api/uploads/upload-rows.ts';
import { KINDS, type Kind } from '#crds/catalogue/formats.ts';
import { MediaError } from '#crds/contract/media-error.ts';
import { LIMITS } from '#crds/catalogue/plans.ts';

type InputDeps = Pick<Dependencies, 'database' | 'clock' | 'samples' | 'files'>;

interface UploadInput {
  readonly inputKey: string;
  readonly inputEtag: string;
  readonly inputFilename: string | null;
  readonly inputSize: number;
  /** Kinds that the content may have, independent of the file name. */
  readonly kinds: readonly Kind[];
}

/**
 * Returns the fields of a job whose input is an upload.
 * @throws MediaError not_found while its content is not complete; for a test key file_too_large and
 * test_mode_sample_required.
 */
export async function inputOfUpload(deps: InputDeps, caller: Uploader, id: string): Promise<UploadInput> {
  const owner = { accountId: caller.account.id, now: deps.clock.now() };
  const upload = await findUpload(deps.database, owner, id);
  if (upload === null || upload.etag === null) {
    const message = `There is no uploaded file \`${id.slice(0, 40)}\`: it does not exist, has expired or is not complete.`;
    throw new MediaError('not_found', message, { param: 'input.upload' });
  }
  if (!caller.livemode) await refuseNonSample(deps, upload);
  return {
    inputKey: contentKey(id),
    inputEtag: upload.etag,
    inputFilename: upload.filename,
    inputSize: upload.size,
    kinds: upload.kinds ?? KINDS,
  };
}

async function refuseNonSample({ samples, files }: InputDeps, upload: Upload): Promise<void> {
  if (upload.size > LIMITS.testJobBytes) {
    const message = `The file has ${upload.size} bytes; a job with a test key takes at most ${LIMITS.testJobBytes}.`;
    throw new MediaError('file_too_large', message, { param: 'input.upload' });
  }
  // The ETag is no hash of the content in every store. Files of other sizes are not read.
  if (samples.hasSize(upload.size)) {
    const content = await files.get(contentKey(upload.id));
    if (content !== null && samples.bySha256(await sha256Of(content.body)) !== null) {
      // The job reads the content with the ETag of the row. An overwrite that is not yet recorded there may be a sample.
      if (content.etag === upload.etag) return;
      const message =
        'The upload was overwritten while it was compared with the published samples. Wait for the response to the PUT, then create the job.';
      throw new MediaError('test_mode_sample_required', message, { param: 'input.upload' });
    }
  }
  const message = 'A test key accepts only the published sample files; this file is not one of them.';
  throw new MediaError('test_mode_sample_required', message, { param: 'input.upload' });
}

async function sha256Of(content: Readable): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(content, hash);
  return hash.digest('hex');
}
