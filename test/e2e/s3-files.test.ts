import { randomBytes } from 'node:crypto';
import { mkdtempDisposable, open, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { grantFromStore } from '#api/recorder/grant-transfer.ts';
import { openS3Files, type S3Files, type S3Options } from '#api/files/s3-files.ts';
import { startObjectStore, type ObjectStore } from '#test/e2e/object-store.ts';
import { describeFileStore } from '#test/contract/file-store.ts';
import { upload } from '#worker-image/transfer/upload.ts';

const MB = 1024 ** 2;
let store: ObjectStore;
let buckets = 0;

beforeAll(async () => {
  store = await startObjectStore();
});
afterAll(() => store.close());

const optionsFor = (bucket: string): S3Options => ({
  bucket,
  region: 'us-east-1',
  endpoint: store.endpoint,
  pathStyle: true,
  credentials: store.credentials,
});
async function openNewBucket(more: Partial<S3Options> = {}): Promise<S3Files> {
  buckets += 1;
  const bucket = `bucket-${buckets}`;
  await store.makeBucket(bucket);
  return openS3Files({ ...optionsFor(bucket), ...more });
}

describeFileStore('a bucket', async () => {
  const files = await openNewBucket();
  return { files, close: async () => files.close() };
});

describe('a bucket', () => {
  it('stores a large object in parts and returns it, also a range that spans two parts', async () => {
    const files = await openNewBucket();
    const bytes = randomBytes(20 * MB + 3);
    const chunks = Array.from({ length: 21 }, (_, index) => bytes.subarray(index * MB, (index + 1) * MB));
    const stored = await files.put('a/b', Readable.from(chunks), { maxBytes: 30 * MB, size: bytes.length });
    expect(stored.etag).toMatch(/-3"$/);
    expect(await files.head('a/b')).toEqual({ size: bytes.length, etag: stored.etag });
    const whole = await files.get('a/b');
    expect(whole === null ? null : bytes.equals(await buffer(whole.body))).toBe(true);
    const range = { start: 8 * MB - 10, end: 8 * MB + 9 };
    const part = await files.get('a/b', range);
    expect(part?.size).toBe(bytes.length);
    expect(part === null ? null : await buffer(part.body)).toEqual(bytes.subarray(range.start, range.end + 1));
    files.close();
  });

  it('leaves nothing of a large object whose upload was interrupted', async () => {
    const files = await openNewBucket();
    const cutOff = Readable.from(
      (async function* parts() {
        for (let sent = 0; sent < 20; sent += 1) yield randomBytes(MB);
        throw new Error('the sender is gone');
      })(),
    );
    await expect(files.put('a/b', cutOff, { maxBytes: 100 * MB })).rejects.toThrow('the sender is gone');
    expect(await files.head('a/b')).toBeNull();
    files.close();
  });

  it('takes an output in parts from a worker that has no credentials', async () => {
    const files = await openNewBucket({ partBytes: 5 * MB });
    const bytes = randomBytes(12 * MB + 3);
    await using folder = await mkdtempDisposable(join(tmpdir(), 'output-'));
    const path = join(folder.path, 'output');
    await writeFile(path, bytes);
    await using file = await open(path);
    const shares: number[] = [];
    await upload(
      { now: () => performance.now(), wait: () => Promise.resolve(), random: () => 0 },
      {
        requestTransfer: (transfer) => grantFromStore(files, { input: 'inputs/a', output: 'outputs/a' }, transfer),
        file,
        size: bytes.length,
        contentType: 'application/octet-stream',
        signal: new AbortController().signal,
        onProgress: (share) => shares.push(share),
      },
    );
    const stored = await files.get('outputs/a');
    expect(stored?.etag).toMatch(/-3"$/);
    expect(stored === null ? null : bytes.equals(await buffer(stored.body))).toBe(true);
    expect(shares).toEqual(shares.toSorted((one, other) => one - other));
    expect(shares.at(-1)).toBe(1);
    files.close();
  });

  it('aborts an upload of parts that is never completed', async () => {
    const files = await openNewBucket({ partBytes: 5 * MB });
    const { id: uploadId = '' } = (await files.beginParts('outputs/a', 12 * MB)) ?? {};
    const putPart = async (): Promise<number> => {
      const url = await files.signedPart('outputs/a', { uploadId, number: 1 }, 60);
      return (await fetch(url, { method: 'PUT', body: 'part' })).status;
    };
    await files.dropParts(new Date(Date.now() - 60_000));
    expect(await putPart()).toBe(200);
    await files.dropParts(new Date(Date.now() + 60_000));
    expect(await putPart()).toBe(404);
    expect(await files.head('outputs/a')).toBeNull();
    files.close();
  });

  it('says what is wrong with it', async () => {
    const good = await openNewBucket();
    expect(await good.problem()).toBeNull();
    const absent = openS3Files(optionsFor('no-such-bucket'));
    expect(await absent.problem()).toContain('does not exist: create it');
    const refused = openS3Files({
      ...optionsFor('bucket-1'),
      credentials: { accessKeyId: 'stranger', secretAccessKey: 'guess' },
    });
    expect(await refused.problem()).toContain('refuses these credentials');
    const unreachable = openS3Files({ ...optionsFor('bucket-1'), endpoint: 'http://127.0.0.1:9' });
    expect(await unreachable.problem()).toContain('does not answer');
    for (const files of [good, absent, refused, unreachable]) files.close();
  });
});
