import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { PassThrough, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { watchBody } from '#api/direct/watch-body.ts';

const bytes = Buffer.from('a file of some bytes');
const refusalOf = () => null;

describe('watchBody', () => {
  it('hashes the file of a test key, which is compared with the samples', async () => {
    const body = watchBody(Readable.from([bytes]), { refusalOf, hashes: true });
    expect(await buffer(body.file)).toEqual(bytes);
    expect(body.sha256()).toBe(createHash('sha256').update(bytes).digest('hex'));
  });

  it('does not hash the file of a live key', async () => {
    const body = watchBody(Readable.from([bytes]), { refusalOf, hashes: false });
    expect(await buffer(body.file)).toEqual(bytes);
    expect(body.size()).toBe(bytes.length);
    expect(() => body.sha256()).toThrow('not hashed');
  });

  it('passes what arrives in one iteration of the event loop as one chunk', async () => {
    const file = new PassThrough();
    const body = watchBody(file, { refusalOf, hashes: false });
    for (const part of [bytes, bytes, bytes]) file.write(part);
    const [chunk] = (await once(body.file, 'data')) as [Buffer];
    expect(chunk).toEqual(Buffer.concat([bytes, bytes, bytes]));
    file.end(bytes);
    expect(await buffer(body.file)).toEqual(bytes);
  });

  it('reads no further than its reader', async () => {
    let made = 0;
    const endless = new Readable({
      read() {
        made += 1;
        this.push(Buffer.alloc(16 * 1024));
      },
    });
    const body = watchBody(endless, { refusalOf, hashes: false });
    for (let i = 0; i < 100; i += 1) await setImmediate();
    expect(made).toBeLessThan(40);
    const before = made;
    body.file.resume();
    for (let i = 0; i < 100; i += 1) await setImmediate();
    expect(made).toBeGreaterThan(before);
    endless.destroy();
  });

  it('fails with the refusal of a size', async () => {
    const body = watchBody(Readable.from([bytes, bytes]), {
      refusalOf: (size) => (size > 30 ? new Error('too large') : null),
      hashes: false,
    });
    body.firstBytes.catch(() => undefined);
    await expect(buffer(body.file)).rejects.toThrow('too large');
  });
});
