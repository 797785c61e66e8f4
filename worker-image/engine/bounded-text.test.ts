import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { boundedText } from '#worker-image/engine/bounded-text.ts';

describe('boundedText', () => {
  it('returns the text since the last call, also of a character in two pieces', async () => {
    const stream = new PassThrough();
    const text = boundedText(stream);
    for (const piece of [[0x61, 0xc3], [0xa9]]) stream.write(Buffer.from(piece));
    await new Promise(setImmediate);
    expect([text(), text()]).toEqual(['aé', '']);
  });

  it('returns 8,000 characters at most', async () => {
    const stream = new PassThrough();
    const text = boundedText(stream);
    stream.write('x'.repeat(9000));
    await new Promise(setImmediate);
    expect(text()).toHaveLength(8000);
  });

  it('destroys a stream of more than 64 KiB', async () => {
    const stream = new PassThrough();
    boundedText(stream);
    const closed = once(stream, 'close');
    stream.write('x'.repeat(64 * 1024 + 1));
    await closed;
    expect(stream.destroyed).toBe(true);
  });

  it('returns nothing without a stream', () => {
    expect(boundedText(null)()).toBe('');
  });
});
