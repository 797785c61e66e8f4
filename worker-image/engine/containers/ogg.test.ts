import { describe, expect, it } from 'vitest';
import { fileReaderOf } from '#test/fixtures/memory-file-reader.ts';
import { parseOggPage, readOggStructure } from '#worker-image/engine/containers/ogg.ts';

function page(flags: number, segments: readonly number[]): Buffer {
  const header = Buffer.alloc(27);
  header.write('OggS');
  header[5] = flags;
  header[26] = segments.length;
  return Buffer.concat([header, Buffer.from(segments), Buffer.alloc(segments.reduce((sum, size) => sum + size, 0))]);
}

describe('parseOggPage', () => {
  it('returns the range of the payload and the flags', () => {
    const bytes = Buffer.concat([page(2, [255, 3]), page(4, [])]);
    expect(parseOggPage(bytes, 0)).toEqual({ beginsStream: true, endsStream: false, body: 29, end: 287 });
    expect(parseOggPage(bytes, 287)).toEqual({ beginsStream: false, endsStream: true, body: 314, end: 314 });
  });

  it('returns an end beyond the buffer for a truncated page', () => {
    expect(parseOggPage(page(0, [200]).subarray(0, 50), 0)?.end).toBe(228);
  });

  it.each([
    ['no page begins there', page(2, []), 1],
    ['its header is truncated', page(2, []).subarray(0, 26), 0],
    ['the offset is beyond the buffer', page(2, []), 1000],
  ])('returns null when %s', (_what, bytes, at) => {
    expect(parseOggPage(bytes, at)).toBeNull();
  });
});

describe('readOggStructure', () => {
  const BEGIN = 2;
  const VORBIS = vorbis(2, 44_100);
  const whole = (flags: number, payload: Buffer, granule = 0n): Buffer => {
    const bytes = page(flags, [payload.length]);
    bytes.writeBigInt64LE(granule, 6);
    payload.copy(bytes, 28);
    return bytes;
  };
  const part = (header: Buffer): Buffer =>
    Buffer.concat([whole(BEGIN, header), whole(0, Buffer.alloc(90)), whole(0, Buffer.alloc(50), 100n)]);
  const read = async (...parts: readonly Buffer[]): ReturnType<typeof readOggStructure> =>
    readOggStructure(fileReaderOf(Buffer.concat(parts)));

  /** Returns an identification header of Vorbis. */
  function vorbis(channels: number, rate: number): Buffer {
    const header = Buffer.alloc(30);
    header.write('\x01vorbis');
    header[11] = channels;
    header.writeUInt32LE(rate, 12);
    return header;
  }

  /** Returns an identification header of Opus. */
  function opus(channels: number, gain = 0, mapping = 0): Buffer {
    const header = Buffer.alloc(19);
    header.write('OpusHead');
    header[9] = channels;
    header.writeInt16LE(gain, 16);
    header[18] = mapping;
    return header;
  }

  it('counts the pages behind the headers of each part', async () => {
    expect(await read(part(VORBIS))).toEqual({ isChained: false, isUniform: true, audioBytes: 78 });
    expect(await read(part(VORBIS), part(VORBIS))).toEqual({ isChained: true, isUniform: true, audioBytes: 156 });
  });

  it('takes streams that begin together for one part', async () => {
    const skeleton = whole(BEGIN, Buffer.from('fishead'));
    expect(await read(skeleton, part(VORBIS))).toMatchObject({ isChained: false });
    expect(await read(skeleton, part(VORBIS), part(VORBIS))).toMatchObject({ isChained: true, isUniform: true });
  });

  it.each([
    ['the sample rate', [VORBIS, vorbis(2, 48_000)], false],
    ['the channels', [VORBIS, vorbis(1, 44_100)], false],
    ['the codec', [VORBIS, opus(2)], false],
    ['the gain of Opus', [opus(2), opus(2, 256)], false],
    ['the channel mapping of Opus', [opus(2), opus(2, 0, 1)], false],
    ['the channels of Opus without a mapping', [opus(2), opus(1)], true],
  ])('compares %s of the parts', async (_what, headers, isUniform) => {
    expect(await read(...headers.map(part))).toMatchObject({ isChained: true, isUniform });
  });

  it('continues behind damaged bytes, and ends at a truncated page', async () => {
    const damaged = [part(VORBIS), Buffer.alloc(3_000_000, 'no'), part(VORBIS)];
    expect(await read(...damaged, part(VORBIS).subarray(0, 20))).toMatchObject({ isChained: true, audioBytes: 156 });
  });
});
