import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { openSample } from '#api/samples/samples.ts';
import { inputOfUpload } from '#api/uploads/input-of-upload.ts';
import { storeContent } from '#api/uploads/receive-upload.ts';
import { contentKey } from '#api/uploads/upload.ts';
import { findUpload } from '#api/uploads/upload-rows.ts';
import { testUploads } from '#test/support/upload-builder.ts';

const uploads = await testUploads({ livemode: false });
const { deps, caller } = uploads;
const [sample] = deps.samples.all;
if (sample === undefined) throw new Error('there are no samples');
const sampleBytes = await buffer(openSample(sample));

async function sentUpload(bytes: Buffer): Promise<string> {
  const size = bytes.length;
  const id = await uploads.newUpload({ size, multipart: false });
  const upload = await findUpload(deps.database, { accountId: caller.account.id, now: deps.clock.now() }, id);
  if (upload === null) throw new Error(`no upload ${id}`);
  await storeContent(deps, { caller, input: { upload, size, filename: null, read: () => Readable.from([bytes]) } });
  return id;
}

describe('inputOfUpload with a test key', () => {
  it('accepts a sample', async () => {
    const id = await sentUpload(sampleBytes);
    expect(await inputOfUpload(deps, caller, id)).toMatchObject({ inputSize: sample.size });
  });

  it('refuses a file with the size of a sample', async () => {
    const id = await sentUpload(randomBytes(sample.size));
    await expect(inputOfUpload(deps, caller, id)).rejects.toMatchObject({ code: 'test_mode_sample_required' });
  });

  it('refuses a file that is overwritten by a sample until the overwrite is recorded', async () => {
    const id = await sentUpload(randomBytes(sample.size));
    await deps.files.put(contentKey(id), Readable.from([sampleBytes]), { maxBytes: sample.size });
    const refusal = { code: 'test_mode_sample_required', param: 'input.upload' };
    await expect(inputOfUpload(deps, caller, id)).rejects.toMatchObject(refusal);
  });
});
