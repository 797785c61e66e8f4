import { crc32 } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { makePngChunk, PNG_SIGNATURE, readPngChunks } from '#worker-image/engine/containers/png-chunks.ts';

const HEADER = makePngChunk('IHDR', Buffer.alloc(13));
const END = makePngChunk('IEND', Buffer.alloc(0));
const png = (...chunks: readonly Buffer[]): Buffer => Buffer.concat([PNG_SIGNATURE, ...chunks]);

describe('makePngChunk', () => {
  it('writes length, type, data and the checksum of type and data', () => {
    const chunk = makePngChunk('tEXt', Buffer.from('ab'));
    expect(chunk.toString('latin1', 0, 10)).toBe('\0\0\0\x02tEXtab');
    expect(chunk.readUInt32BE(10)).toBe(crc32('tEXtab'));
  });
});

describe('readPngChunks', () => {
  it('returns the chunks up to IEND, and no later ones', () => {
    const text = makePngChunk('tEXt', Buffer.from('ab'));
    const chunks = readPngChunks(png(HEADER, text, END, text));
    expect(chunks?.map(({ type, data }) => [type, data.length])).toEqual([
      ['IHDR', 13],
      ['tEXt', 2],
      ['IEND', 0],
    ]);
    expect(chunks?.[1]?.whole.equals(text)).toBe(true);
  });

  it.each<readonly [string, Buffer]>([
    ['another signature', Buffer.concat([Buffer.from('\x89MNG\r\n\x1a\n', 'latin1'), HEADER, END])],
    ['no end chunk', png(HEADER)],
    ['a truncated end chunk', png(HEADER, END.subarray(0, -1))],
    ['a chunk longer than the file', png(Buffer.from('ffffffff49484452', 'hex'), END)],
    ['over a million chunks', png(Buffer.alloc(12 * 1_000_001), END)],
    ['no bytes', Buffer.alloc(0)],
  ])('returns null for a file with %s', (_what, bytes) => {
    expect(readPngChunks(bytes)).toBeNull();
  });
});
