import { createHash, randomBytes } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FileTooLarge, SizeMismatch, type FileStore } from '#api/files/file-store.ts';

/** An empty store whose signed URLs are served. */
export interface TestedFileStore {
  readonly files: FileStore;
  close(): Promise<void>;
}

const MB = 1024 ** 2;

/** Conformance tests of `api/files/file-store.ts`, run against every implementation. */
export function describeFileStore(name: string, make: () => Promise<TestedFileStore>): void {
  describe(`${name}, as a file store`, () => {
    let tested: TestedFileStore;
    let files: FileStore;
    beforeEach(async () => {
      tested = await make();
      files = tested.files;
    });
    afterEach(() => tested.close());

    const putText = (key: string, text: string) =>
      files.put(key, Readable.from([Buffer.from(text)]), { maxBytes: 1000 });
    const read = async (key: string, range?: { start: number; end: number }): Promise<string | null> => {
      const found = await files.get(key, range);
      return found === null ? null : (await buffer(found.body)).toString();
    };
    const keys = async (prefix: string): Promise<string[]> => {
      const found: string[] = [];
      for await (const key of files.list(prefix)) found.push(key);
      return found.toSorted();
    };

    it('returns what was put, with size, hash and a strong ETag', async () => {
      const bytes = randomBytes(3 * MB + 17);
      const stored = await files.put('uploads/upl_a', Readable.from(chunksOf(bytes)), {
        maxBytes: 4 * MB,
        size: bytes.length,
      });
      expect(stored.size).toBe(bytes.length);
      expect(stored.sha256).toBe(createHash('sha256').update(bytes).digest('hex'));
      expect(stored.etag).toMatch(/^"[^"]+"$/);
      const found = await files.get('uploads/upl_a');
      expect(found).toMatchObject({ size: bytes.length, etag: stored.etag });
      expect(found === null ? null : bytes.equals(await buffer(found.body))).toBe(true);
      expect(await files.head('uploads/upl_a')).toEqual({ size: bytes.length, etag: stored.etag });
    });

    it('opens objects while many others are open and not read', async () => {
      await files.put('a', Readable.from(chunksOf(randomBytes(3 * MB))), { maxBytes: 4 * MB });
      const unread = await Promise.all(Array.from({ length: 60 }, () => files.get('a')));
      expect(await files.head('a')).not.toBeNull();
      expect((await files.get('a'))?.body.destroy()).toBeDefined();
      for (const found of unread) found?.body.destroy();
    });

    it('keeps an empty object', async () => {
      expect(await files.put('a', Readable.from([]), { maxBytes: 10 })).toMatchObject({ size: 0 });
      expect(await read('a')).toBe('');
    });

    it('returns null for an absent object and for a folder', async () => {
      await putText('a/b/c', 'text');
      expect(await files.get('a/b/d')).toBeNull();
      expect(await files.head('a/b')).toBeNull();
      expect(await files.get('a')).toBeNull();
    });

    it('returns a range that includes both ends', async () => {
      await putText('a', '0123456789');
      expect(await read('a', { start: 2, end: 4 })).toBe('234');
      expect(await read('a', { start: 9, end: 9 })).toBe('9');
      expect((await files.get('a', { start: 2, end: 4 }).then(closed))?.size).toBe(10);
    });

    it('replaces an object and changes its ETag', async () => {
      const first = await putText('a', 'first');
      const second = await putText('a', 'second');
      expect(second.etag).not.toBe(first.etag);
      expect(await read('a')).toBe('second');
      expect((await putText('a', 'first')).etag).toBe(first.etag);
      expect(await read('a')).toBe('first');
    });

    it('continues to read an object that is replaced or deleted meanwhile', async () => {
      await putText('a', 'old');
      const found = await files.get('a');
      await putText('a', 'new');
      await files.delete('a');
      expect(found === null ? null : (await buffer(found.body)).toString()).toBe('old');
    });

    it('refuses more bytes than allowed and keeps the earlier object', async () => {
      await putText('a', 'before');
      const endless = Readable.from(endlessBytes());
      await expect(files.put('a', endless, { maxBytes: 50_000 })).rejects.toThrow(FileTooLarge);
      expect(endless.destroyed).toBe(true);
      expect(await read('a')).toBe('before');
    });

    it.each([
      ['fewer', 5],
      ['more', 3],
    ])('refuses %s bytes than announced', async (_name, size) => {
      const body = Readable.from([Buffer.from('abcd')]);
      await expect(files.put('a', body, { maxBytes: 100, size })).rejects.toThrow(SizeMismatch);
      expect(await files.head('a')).toBeNull();
    });

    it('keeps the earlier object when the stream fails', async () => {
      await putText('a', 'before');
      const breaking = Readable.from(
        (async function* half() {
          yield Buffer.from('half');
          throw new Error('the sender is gone');
        })(),
      );
      await expect(files.put('a', breaking, { maxBytes: 100 })).rejects.toThrow('the sender is gone');
      expect(await read('a')).toBe('before');
    });

    it('keeps one complete object of concurrent writers', async () => {
      const texts = Array.from({ length: 20 }, (_, index) => `text number ${index}`);
      await Promise.all(texts.map((text) => putText('a/b', text)));
      expect(texts).toContain(await read('a/b'));
      expect(await keys('')).toEqual(['a/b']);
    });

    it('deletes an object, repeatedly without an error, and its empty folders', async () => {
      await putText('a/b/c', 'x');
      await putText('a/d', 'y');
      await files.delete('a/b/c');
      await files.delete('a/b/c');
      expect(await read('a/b/c')).toBeNull();
      expect(await keys('')).toEqual(['a/d']);
    });

    it('lists the keys below a prefix, which may end inside a name', async () => {
      for (const key of ['outputs/job_a/1', 'outputs/job_b/1', 'outputs/job_b/2', 'uploads/upl_a'])
        await putText(key, 'x');
      expect(await keys('outputs/job_b/')).toEqual(['outputs/job_b/1', 'outputs/job_b/2']);
      expect(await keys('outputs/job_')).toHaveLength(3);
      expect(await keys('nothing/')).toEqual([]);
    });

    it.each(['', '/a', 'a/', 'a//b', '..', 'a/../b', './a', 'A', 'a b', 'a@b', 'a\\b', 'a\0b', 'ä'])(
      'refuses the key %j',
      async (key) => {
        await expect(putText(key, 'x')).rejects.toThrow(/not a key/);
        await expect(files.get(key)).rejects.toThrow(/not a key/);
        await expect(files.signedGet(key, 60)).rejects.toThrow(/not a key/);
      },
    );

    describe('signed URLs', () => {
      it('GET the object', async () => {
        const { etag } = await putText('a/b', 'content');
        const response = await fetch(await files.signedGet('a/b', 60));
        expect(response.status).toBe(200);
        expect(response.headers.get('etag')).toBe(etag);
        expect(response.headers.get('content-length')).toBe('7');
        expect(await response.text()).toBe('content');
      });

      it('GET answers 404 for a deleted object and 412 when If-Match differs', async () => {
        const { etag } = await putText('a', 'content');
        const url = await files.signedGet('a', 60);
        expect(await status(url, { headers: { 'if-match': etag } })).toBe(200);
        await putText('a', 'changed');
        expect(await status(url, { headers: { 'if-match': etag } })).toBe(412);
        await files.delete('a');
        expect(await status(url)).toBe(404);
      });

      it('PUT stores the object', async () => {
        const bytes = randomBytes(2 * MB);
        expect(await status(await files.signedPut('outputs/job_a/1', 60), { method: 'PUT', body: bytes })).toBe(200);
        const found = await files.get('outputs/job_a/1');
        expect(found === null ? null : bytes.equals(await buffer(found.body))).toBe(true);
      });

      it('PUT requires Content-Length', async () => {
        const body = new Blob(['streamed']).stream();
        expect(await status(await files.signedPut('a', 60), { method: 'PUT', body, duplex: 'half' })).toBe(411);
        expect(await files.head('a')).toBeNull();
      });

      it('are valid for the method and the object that they were signed for only', async () => {
        await putText('a', 'content');
        await putText('b', 'content');
        expect(await status(await files.signedPut('a', 60))).toBe(403);
        expect(await status(await files.signedGet('a', 60), { method: 'PUT', body: 'x' })).toBe(403);
        expect(await status((await files.signedGet('a', 60)).replace('/a?', '/b?'))).toBe(403);
        expect([400, 403]).toContain(await status(await files.signedGet('a', -1)));
        expect(await read('a')).toBe('content');
      });
    });
  });
}

function* chunksOf(bytes: Buffer): Generator<Buffer> {
  for (let start = 0; start < bytes.length; start += 65_536) yield bytes.subarray(start, start + 65_536);
}

function* endlessBytes(): Generator<Buffer> {
  for (;;) yield Buffer.alloc(1000);
}

function closed<Found extends { body: Readable } | null>(found: Found): Found {
  found?.body.destroy();
  return found;
}

async function status(url: string, init: RequestInit & { duplex?: 'half' } = {}): Promise<number> {
  const response = await fetch(url, init);
  await response.arrayBuffer();
  return response.status;
}
