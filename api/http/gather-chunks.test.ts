import { once } from 'node:events';
import { PassThrough, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { gatherChunks } from '#api/http/gather-chunks.ts';

const bytes = Buffer.from('some bytes');

describe('gatherChunks', () => {
  it('passes what arrives in one iteration of the event loop as one chunk', async () => {
    const file = new PassThrough();
    const gathered = gatherChunks(file, () => undefined);
    for (const part of [bytes, bytes, bytes]) file.write(part);
    const [chunk] = (await once(gathered, 'data')) as [Buffer];
    expect(chunk).toEqual(Buffer.concat([bytes, bytes, bytes]));
    file.end(bytes);
    expect(await buffer(gathered)).toEqual(bytes);
  });

  it('reads no further than its reader', async () => {
    let made = 0;
    const endless = new Readable({
      read() {
        made += 1;
        this.push(Buffer.alloc(16 * 1024));
      },
    });
    const gathered = gatherChunks(endless, () => undefined);
    for (let i = 0; i < 100; i += 1) await setImmediate();
    expect(made).toBeLessThan(40);
    const before = made;
    gathered.resume();
    for (let i = 0; i < 100; i += 1) await setImmediate();
    expect(made).toBeGreaterThan(before);
    endless.destroy();
  });
});
