import { deflateSync, inflateSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { makePngChunk, PNG_SIGNATURE, readPngChunks } from '#worker-image/engine/containers/png-chunks.ts';
import { recompressAnimatedPng } from '#worker-image/engine/image/encode/recompress-png.ts';

const ROWS = Buffer.alloc(3000, 7);
const stored = (rows: Buffer): Buffer => deflateSync(rows, { level: 0 });
const numbered = (sequence: number, data: Buffer): Buffer => Buffer.concat([Buffer.from([0, 0, 0, sequence]), data]);
const chunk = makePngChunk;
const png = (...chunks: readonly Buffer[]): Buffer =>
  Buffer.concat([PNG_SIGNATURE, chunk('IHDR', Buffer.alloc(13)), ...chunks, chunk('IEND', Buffer.alloc(0))]);

/** An animation of two frames whose streams are split into chunks. */
function animation(rows = ROWS): Buffer {
  const first = stored(rows);
  const second = stored(Buffer.alloc(2000, 9));
  return png(
    chunk('fcTL', numbered(0, Buffer.from('first'))),
    chunk('IDAT', first.subarray(0, 100)),
    chunk('IDAT', first.subarray(100)),
    chunk('fcTL', numbered(1, Buffer.from('second'))),
    chunk('fdAT', numbered(2, second.subarray(0, 50))),
    chunk('fdAT', numbered(3, second.subarray(50))),
    chunk('tEXt', Buffer.from('kept')),
  );
}

describe('recompressAnimatedPng', () => {
  it('joins and compresses the stream of each frame, and renumbers the chunks', () => {
    const chunks = readPngChunks(recompressAnimatedPng(animation(), 10_000)) ?? [];
    expect(chunks.map(({ type }) => type)).toEqual(['IHDR', 'fcTL', 'IDAT', 'fcTL', 'fdAT', 'tEXt', 'IEND']);
    const numbers = chunks.filter(({ type }) => type.startsWith('f')).map(({ data }) => data.readUInt32BE(0));
    expect(numbers).toEqual([0, 1, 2]);
    expect(inflateSync(chunks[2]?.data ?? Buffer.alloc(0)).equals(ROWS)).toBe(true);
    expect(inflateSync(chunks[4]?.data.subarray(4) ?? Buffer.alloc(0))).toHaveLength(2000);
    expect(chunks[2]?.data.length).toBeLessThan(100);
  });

  it('keeps a stream that does not become smaller', () => {
    const packed = deflateSync(ROWS, { level: 9 });
    const file = png(chunk('IDAT', packed));
    expect(recompressAnimatedPng(file, 10_000).equals(file)).toBe(true);
  });

  it.each<readonly [string, Buffer]>([
    ['no end chunk', animation().subarray(0, -12)],
    ['a damaged stream', png(chunk('IDAT', Buffer.from('no stream')))],
    ['a frame without its sequence number', png(chunk('fdAT', Buffer.from([0, 0])))],
    ['a stream that inflates to more than the limit', animation(Buffer.alloc(10_001))],
  ])('refuses a file with %s', (_what, file) => {
    expect(() => recompressAnimatedPng(file, 10_000)).toThrow(expect.objectContaining({ code: 'processing_failed' }));
  });
});
