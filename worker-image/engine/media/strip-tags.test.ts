import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { freshDirectory } from '#test/fixtures/engine-work.ts';
import { stripFlac, stripFrames } from '#worker-image/engine/media/strip-tags.ts';

const hex = (text: string): Buffer => Buffer.from(text.replaceAll(' ', ''), 'hex');
const FRAMES = Buffer.alloc(6000, 0x55);

/** Tags with a secret, as they are at the start or at the end of a file. */
const ID3V2 = Buffer.concat([Buffer.from('ID3\x04\0\0\0\0\0\x06'), Buffer.from('SECRET')]);
const ID3V2_AT_END = Buffer.concat([
  Buffer.from('ID3\x04\0\x10\0\0\0\x06SECRET'),
  Buffer.from('3DI\x04\0\x10\0\0\0\x06'),
]);
const ID3V1 = Buffer.concat([Buffer.from('TAGSECRET'), Buffer.alloc(119)]);
const ENHANCED = Buffer.concat([Buffer.from('TAG+SECRET'), Buffer.alloc(217), ID3V1]);
const apeFooter = (bytes: number, flags: string): Buffer => {
  const footer = Buffer.concat([
    Buffer.from('APETAGEX'),
    hex('d0070000 00000000 01000000'),
    hex(flags),
    Buffer.alloc(8),
  ]);
  footer.writeUInt32LE(bytes, 12);
  return footer;
};
const APE = Buffer.concat([Buffer.from('SECRET'), apeFooter(6 + 32, '00000000')]);
const APE_WITH_HEADER = Buffer.concat([
  apeFooter(6 + 32, '000000a0'),
  Buffer.from('SECRET'),
  apeFooter(6 + 32, '00000080'),
]);
const LYRICS_1 = Buffer.from('LYRICSBEGINSECRETLYRICSEND');
const LYRICS_2 = Buffer.from('LYRICSBEGINSECRET000017LYRICS200');

let directory = '';
beforeAll(async () => {
  directory = await freshDirectory();
});

async function stripped(strip: typeof stripFrames, bytes: Buffer): Promise<Buffer> {
  const [input, output] = [join(directory, 'input'), join(directory, 'output')];
  await writeFile(input, bytes);
  await strip(input, output);
  return readFile(output);
}

describe('stripFrames', () => {
  it.each<readonly [string, readonly Buffer[]]>([
    ['no tags', [FRAMES]],
    ['ID3v2 in front', [ID3V2, FRAMES]],
    ['two ID3v2 in front', [ID3V2, ID3V2, FRAMES]],
    ['ID3v1', [FRAMES, ID3V1]],
    ['enhanced ID3v1', [FRAMES, ENHANCED]],
    ['APEv2', [FRAMES, APE]],
    ['APEv2 with a header', [FRAMES, APE_WITH_HEADER]],
    ['ID3v2 at the end', [FRAMES, ID3V2_AT_END]],
    ['Lyrics3v1', [FRAMES, LYRICS_1]],
    ['Lyrics3v2', [FRAMES, LYRICS_2]],
    ['all of them', [ID3V2, FRAMES, APE_WITH_HEADER, LYRICS_2, ID3V1]],
  ])('returns the frames of a file with %s', async (_what, parts) => {
    expect((await stripped(stripFrames, Buffer.concat(parts))).equals(FRAMES)).toBe(true);
  });

  it.each<readonly [string, Buffer]>([
    ['an APE tag that claims 4 GB', apeFooter(0xffff_ffff, '00000000')],
    ['a Lyrics3 tag that claims 999,999 bytes', Buffer.from('LYRICSBEGINx999999LYRICS200')],
    ['an ID3v2 tag that claims 256 MB', Buffer.from('3DI\x04\0\0\x7f\x7f\x7f\x7f')],
  ])('never begins the output behind its end, with %s', async (_what, tag) => {
    const output = await stripped(stripFrames, Buffer.concat([ID3V2, FRAMES, tag]));
    expect(output.length).toBeLessThanOrEqual(FRAMES.length + tag.length);
  });
});

describe('stripFlac', () => {
  const block = (type: number, body: Buffer, isLast = false): Buffer => {
    const head = Buffer.alloc(4);
    head.writeUInt8(type | (isLast ? 0x80 : 0));
    head.writeUIntBE(body.length, 1, 3);
    return Buffer.concat([head, body]);
  };
  const INFO = Buffer.alloc(34, 1);
  const SEEK = Buffer.alloc(18, 2);
  const flac = (...blocks: readonly Buffer[]): Buffer => Buffer.concat([Buffer.from('fLaC'), ...blocks, FRAMES]);
  const comment = (...entries: readonly string[]): Buffer =>
    Buffer.concat([
      Buffer.alloc(4),
      Buffer.from([entries.length, 0, 0, 0]),
      ...entries.map((entry) => Buffer.concat([Buffer.from([entry.length, 0, 0, 0]), Buffer.from(entry)])),
    ]);

  it('keeps stream info and seek table, and marks the last of them', async () => {
    const file = flac(
      block(0, INFO),
      block(4, comment('TITLE=SECRET')),
      block(3, SEEK),
      block(6, Buffer.from('SECRET'), true),
    );
    expect((await stripped(stripFlac, file)).equals(flac(block(0, INFO), block(3, SEEK, true)))).toBe(true);
  });

  it('keeps the channel mask alone of the comments', async () => {
    const mask = 'WAVEFORMATEXTENSIBLE_CHANNEL_MASK=0x3f';
    const file = flac(block(0, INFO), block(4, comment('TITLE=SECRET', mask), true));
    expect((await stripped(stripFlac, file)).equals(flac(block(0, INFO), block(4, comment(mask), true)))).toBe(true);
  });

  it('removes ID3 tags around the file', async () => {
    const file = flac(block(0, INFO, true));
    expect((await stripped(stripFlac, Buffer.concat([ID3V2, file, ID3V1]))).equals(file)).toBe(true);
  });

  it.each<readonly [string, Buffer]>([
    ['no last block', Buffer.concat([Buffer.from('fLaC'), block(0, INFO)])],
    ['a block longer than the file', Buffer.concat([Buffer.from('fLaC'), hex('00ffffff'), INFO])],
  ])('fails for a file with %s', async (_what, bytes) => {
    await expect(stripped(stripFlac, bytes)).rejects.toThrow('truncated');
  });
});
