import { describe, expect, it } from 'vitest';
import { fileReaderOf } from '#test/fixtures/memory-file-reader.ts';
import { formatOfMpegAudio } from '#worker-image/engine/identify/mpeg-audio.ts';

const frame = (header: string, bytes: number): Buffer => {
  const whole = Buffer.alloc(bytes, 1);
  Buffer.from(header, 'hex').copy(whole);
  return whole;
};
const MP3 = frame('fffb9000', 417);
const AAC = frame('fff150800c9ffc', 100);
const LAYER_2 = frame('fffda404', 576);
const ID3 = Buffer.from('ID3\x04\0\0\0\0\0\x03abc');

const format = (filename: string | null, ...parts: readonly Buffer[]): Promise<string | null> =>
  formatOfMpegAudio({ ...fileReaderOf(Buffer.concat(parts)), filename });

describe('formatOfMpegAudio', () => {
  it.each<readonly [string, string | null, readonly Buffer[], string | null]>([
    ['two MP3 frames', null, [MP3, MP3], 'mp3'],
    ['two AAC frames', null, [AAC, AAC], 'aac'],
    ['one frame that fills the file', null, [MP3], 'mp3'],
    ['one frame before other bytes', null, [MP3, Buffer.alloc(500)], null],
    ['frames of two formats', null, [AAC, MP3.subarray(0, 200)], null],
    ['frames after other bytes', null, [Buffer.alloc(9), MP3, MP3], null],
    ['frames after other bytes, by the name', 'a.mp3', [Buffer.alloc(9), MP3, MP3], 'mp3'],
    ['frames after ID3', null, [ID3, Buffer.alloc(9), AAC, AAC], 'aac'],
    ['FLAC after ID3', null, [ID3, Buffer.from('fLaC')], 'flac'],
    ['no frames, in spite of the name', 'a.mp3', [Buffer.alloc(5000, 0xff)], null],
    ['no bytes', null, [], null],
  ])('of %s', async (_what, filename, parts, expected) => {
    expect(await format(filename, ...parts)).toBe(expected);
  });

  it('refuses layer II, and a tag without audio', async () => {
    await expect(format(null, LAYER_2, LAYER_2)).rejects.toThrow('layer I or II');
    await expect(format(null, ID3, Buffer.alloc(500))).rejects.toThrow('ID3');
  });
});
