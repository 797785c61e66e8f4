import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { formatOfSignature, possibleKinds } from '#crds/contract/first-bytes.ts';
import { KINDS, type Kind } from '#crds/catalogue/formats.ts';
import { MediaError } from '#crds/contract/media-error.ts';
import { identify } from '#worker-image/engine/identify.ts';

const SAMPLES = new URL('../../api/data/samples/', import.meta.url).pathname;
const names = await readdir(SAMPLES);

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'first-bytes-'));
});
afterAll(() => rm(directory, { recursive: true }));

/** Returns the kind of a file; null when it is refused and so free. */
async function kindOf(path: string, filename: string): Promise<Kind | null> {
  try {
    return (await identify({ path, filename })).kind;
  } catch (error) {
    if (error instanceof MediaError) return null;
    throw error;
  }
}
const starts = (bytes: Buffer): Buffer[] =>
  [0, 3, 8, 12, 16, 20, 64, 511, 512].map((length) => bytes.subarray(0, length));

describe('the possible kinds', () => {
  it.each<[string, Buffer, readonly Kind[]]>([
    ['a JPEG', Buffer.from([0xff, 0xd8, 0xff, 0xe0]), ['image']],
    ['a PDF', Buffer.from('%PDF-1.7'), ['pdf']],
    ['a GIF', Buffer.from('GIF89a\x10\0\x10\0'), ['image']],
    ['text that begins like a GIF', Buffer.from('GIF89a is a format'), KINDS],
    ['a HEIF image', Buffer.from('\0\0\0\x18ftypmif1\0\0\0\0'), ['image']],
    ['an audio book', Buffer.from('\0\0\0\x18ftypM4B \0\0\0\0'), ['audio']],
    ['an MP4, which may contain only audio', Buffer.from('\0\0\0\x18ftypisom\0\0\0\0'), ['video', 'audio']],
    ['a package', Buffer.from('PK\x03\x04\x14\0'), ['word', 'sheet', 'presentation']],
    ['a PDF behind other bytes', Buffer.from('\r\n\0%PDF-1.7'), KINDS],
    ['a short PDF behind the mark of an OLE2 file', Buffer.from('d0cf11e0a1b11ae1255044462d', 'hex'), KINDS],
    ['nothing', Buffer.alloc(0), KINDS],
  ])('of %s are all that its content may have', (_what, head, kinds) => {
    expect(possibleKinds(head)).toEqual(kinds);
  });

  it.each(names)('of every prefix of %s include its kind', async (name) => {
    const bytes = await readFile(join(SAMPLES, name));
    const kind = await kindOf(join(SAMPLES, name), name);
    if (kind === null) return;
    for (const head of starts(bytes)) expect(possibleKinds(head)).toContain(kind);
  });

  it('include the kind of every file that is forged from the signatures of several formats', async () => {
    let tried = 0;
    const identified = new Set<Kind>();
    await fc.assert(
      fc.asyncProperty(forged, async ({ parts, filler, tail, name }) => {
        const bytes = Buffer.concat([forge(parts, filler), tail]);
        const path = join(directory, String((tried += 1)));
        await writeFile(path, bytes);
        const kind = await kindOf(path, name);
        await rm(path);
        if (kind === null) return;
        identified.add(kind);
        for (const head of starts(bytes)) expect(possibleKinds(head)).toContain(kind);
      }),
      { numRuns: 3000 },
    );
    expect(identified.size).toBeGreaterThan(3);
  }, 60_000);
});

const MARKS = [
  ['RIFF', 'WEBP', 'WAVE', 'AVI ', '\x1a\x45\xdf\xa3', 'OggS', 'PK\x03\x04', 'II*\0', 'MM\0*', 'IIRO', 'II+\0'],
  ['RF64', 'BW64', 'IIRS', 'MMOR', 'IIU\0', 'MM\0+', 'GIF87a', '\0\0\x01\xb3', '\x09\x04\x06\0', 'avis', 'msf1'],
  ['\xff\xd8\xff', '\x89PNG\r\n\x1a\n', 'GIF89a', 'FUJIFILMCCD-RAW', '%PDF-1.4', '{\\rtf', 'fLaC', 'FLV\x01', 'BM'],
  ['\0\0\x01\xba', 'OTTO', 'true', '\0\x01\0\0', 'wOFF', 'wOF2', '\xdb\xa5\x2d\0', '\x09\0\x04\0', '\x09\x02\x06\0'],
  ['ftyp', 'avif', 'heic', 'mif1', 'M4A ', 'isom', 'qt  ', '\0\0\0\x18', 'moov', 'mdat', 'ID3\x04\0\0\0\0\0\0'],
  ['\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1', '\x30\x26\xb2\x75\x8e\x66\xcf\x11\xa6\xd9\x00\xaa\x00\x62\xce\x6c'],
  ['\xff\xfb\x90\x00', '\xff\xf1\x50\x80\x01\x1f\xfc', 'id,name\n1,2\n', '<html>', '{"a":1}', '\xff\xfe', '\0'],
]
  .flat()
  .map((mark) => Buffer.from(mark, 'latin1'));

const forged = fc.record({
  parts: fc.array(fc.record({ mark: fc.constantFrom(...MARKS), at: fc.constantFrom(0, 0, 4, 8, 12, 16, 30) }), {
    minLength: 1,
    maxLength: 5,
  }),
  filler: fc.constantFrom(0, 0x20, 0x61, 0xff),
  tail: fc.oneof(
    fc.constantFrom(Buffer.alloc(0), Buffer.alloc(600), Buffer.from('%PDF-1.4\n'), Buffer.alloc(600, 'a,b\n')),
    fc.uint8Array({ maxLength: 64 }).map((bytes) => Buffer.from(bytes)),
  ),
  name: fc.constantFrom('a', 'a.csv', 'a.txt', 'a.mp3', 'a.aac', 'a.png', 'a.pdf', 'a.nef', 'a.html'),
});

function forge(parts: readonly { mark: Buffer; at: number }[], filler: number): Buffer {
  const bytes = Buffer.alloc(Math.max(...parts.map(({ mark, at }) => at + mark.length)), filler);
  for (const { mark, at } of parts) mark.copy(bytes, at);
  return bytes;
}

const FONT = '\0\x0a\0\x80\0\x03\0\x20GDEF\0\0\0\0\0\0\0\0\0\0\0\0';

describe('formatOfSignature', () => {
  it.each([
    ['\xff\xd8\xff\xe0', 'jpg'],
    ['MM\0+\0\x08\0\0', 'tiff'],
    ['IIRO\x08\0\0\0', 'orf'],
    ['IIU\0\x18\0\0\0', 'rw2'],
    ['%PDF-1.7', 'pdf'],
    ['{\\rtf1', 'rtf'],
    ['fLaC\0\0\0\x22', 'flac'],
    [`\0\x01\0\0${FONT}`, 'ttf'],
    [`OTTO${FONT}`, 'otf'],
    [`true${FONT}`, 'ttf'],
    // Text that begins like a format is none: the signature of letters alone needs a zero byte near the start.
    ['fLaC is a codec', null],
    ['true, but no font', null],
    ['\0\x01\0\0 no font at all, though it is long enough', null],
    ['MZ is how it begins', null],
    ['\xff\xd8', null],
    ['', null],
  ])('returns the format of %j: %j', (bytes, format) => {
    expect(formatOfSignature(Buffer.from(bytes, 'latin1'))).toBe(format);
  });
});
