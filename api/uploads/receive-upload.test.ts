import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { receivePart } from '#api/uploads/receive-upload.ts';
import { partKey } from '#api/uploads/upload.ts';
import { deleteUpload } from '#api/uploads/upload-rows.ts';
import { testUploads } from '#test/support/upload-builder.ts';

const uploads = await testUploads({ livemode: true });
const { deps, caller } = uploads;

describe('receivePart', () => {
  it('deletes a part whose upload was deleted while it was sent', async () => {
    const id = await uploads.newUpload({ size: 5, multipart: true });
    async function* content(): AsyncGenerator<Buffer> {
      await deleteUpload(deps.database, id);
      yield Buffer.from('hello');
    }
    const part = { id, partNumber: '1', size: 5, read: () => Readable.from(content()) };
    await expect(receivePart(deps, { caller, input: part })).rejects.toMatchObject({ code: 'not_found' });
    expect(await deps.files.head(partKey(id, 1))).toBeNull();
  });
});
