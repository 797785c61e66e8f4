import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { watchBody } from '#api/direct/watch-body.ts';

const bytes = Buffer.from('a file of some bytes');
const sizeRefusal = () => null;

describe('watchBody', () => {
  it('hashes the file of a test key, which is compared with the samples', async () => {
    const body = watchBody(Readable.from([bytes]), { sizeRefusal, hashes: true });
    expect(await buffer(body.file)).toEqual(bytes);
    expect(body.sha256()).toBe(createHash('sha256').update(bytes).digest('hex'));
  });

  it('does not hash the file of a live key', async () => {
    const body = watchBody(Readable.from([bytes]), { sizeRefusal, hashes: false });
    expect(await buffer(body.file)).toEqual(bytes);
    expect(body.size()).toBe(bytes.length);
    expect(() => body.sha256()).toThrow('not hashed');
  });

  it('fails with the refusal of a size', async () => {
    const body = watchBody(Readable.from([bytes, bytes]), {
      sizeRefusal: (size) => (size > 30 ? new Error('too large') : null),
      hashes: false,
    });
    body.firstBytes.catch(() => undefined);
    await expect(buffer(body.file)).rejects.toThrow('too large');
  });
});
