import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openS3Files, type S3Files, type S3Options } from '#api/files/s3-files.ts';
import { startObjectStore, type ObjectStore } from '#test/e2e/object-store.ts';
import { describeFileStore } from '#test/contract/file-store.ts';

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
async function openNewBucket(): Promise<S3Files> {
  buckets += 1;
  const bucket = `bucket-${buckets}`;
  await store.makeBucket(bucket);
  return openS3Files(optionsFor(bucket));
}

describeFileStore('a bucket', async () => {
  const files = await openNewBucket();
  return { files, close: async () => files.close() };
});

describe('a bucket', () => {
  it('takes a large object in parts and gives it back, also a part of it that spans two of them', async () => {
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

  it('leaves nothing of a large object that was cut off', async () => {
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
