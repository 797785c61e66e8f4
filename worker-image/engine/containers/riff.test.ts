import { describe, expect, it } from 'vitest';
import { fileReaderOf } from '#test/fixtures/memory-file-reader.ts';
import {
  nextChunk,
  parseRiffChunks,
  readRiffChunks,
  riffForm,
  type RiffChunk,
} from '#worker-image/engine/containers/riff.ts';

function chunk(id: string, body: string, size = body.length): Buffer {
  const header = Buffer.alloc(8);
  header.write(id, 'latin1');
  header.writeUInt32LE(size, 4);
  return Buffer.concat([header, Buffer.from(body), Buffer.alloc(body.length % 2)]);
}

async function all(chunks: AsyncIterable<RiffChunk>): Promise<RiffChunk[]> {
  const found: RiffChunk[] = [];
  for await (const chunk of chunks) found.push(chunk);
  return found;
}

describe('riffForm', () => {
  it.each([
    ['RIFF\0\0\0\0WAVE', 'WAVE'],
    ['RF64\xff\xff\xff\xffWAVE', 'WAVE'],
    ['RIFF\0\0\0\0WAV', null],
    ['RIFX\0\0\0\0WAVE', null],
  ])('returns the form of %j: %j', (bytes, form) => {
    expect(riffForm(Buffer.from(bytes, 'latin1'))).toBe(form);
  });
});

describe('readRiffChunks', () => {
  it('yields padded chunks, and one whose size is beyond the file', async () => {
    const bytes = Buffer.concat([Buffer.alloc(12), chunk('fmt ', 'abc'), chunk('data', 'ab', 0xffff_fffe)]);
    expect(await all(readRiffChunks(fileReaderOf(bytes), 12, 10))).toEqual([
      { id: 'fmt ', body: 20, size: 3 },
      { id: 'data', body: 32, size: 0xffff_fffe },
    ]);
  });

  it('ends after the maximum number of chunks, and before a truncated header', async () => {
    const empty = Buffer.concat(Array.from({ length: 9 }, () => chunk('JUNK', '')));
    expect(await all(readRiffChunks(fileReaderOf(empty), 0, 5))).toHaveLength(5);
    expect(await all(readRiffChunks(fileReaderOf(empty.subarray(0, 15)), 0, 5))).toHaveLength(1);
  });
});

describe('parseRiffChunks', () => {
  it('returns the chunks of a buffer', () => {
    const bytes = Buffer.concat([chunk('VP8X', 'abc'), chunk('EXIF', '')]);
    const chunks = parseRiffChunks(bytes);
    expect(chunks).toEqual([
      { id: 'VP8X', body: 8, size: 3 },
      { id: 'EXIF', body: 20, size: 0 },
    ]);
    expect(chunks?.map(nextChunk)).toEqual([12, 20]);
  });

  it('returns null when a chunk is longer than the buffer', () => {
    expect(parseRiffChunks(Buffer.concat([chunk('VP8X', 'abc'), chunk('EXIF', 'ab', 3)]))).toBeNull();
  });
});
