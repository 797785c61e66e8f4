/**
 * Removal of metadata: canary words that other programs wrote into every metadata field of a format are in no byte of
 * the result, while pixels, orientation and color profile stay.
 */
import { copyFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Format } from '#crds/catalogue/formats.ts';
import { imageOptions } from '#crds/catalogue/options/image.ts';
import type { SentOptions } from '#crds/catalogue/options/options.ts';
import type { Fixture } from '#test/fixtures/engine-work.ts';
import { sharedFixtures } from '#test/fixtures/make-fixtures.ts';
import { runTool } from '#test/fixtures/run-tool.ts';
import { startMatrixEngine, type MatrixEngine } from '#test/matrix/engine.ts';
import { wordsIn } from '#test/matrix/words-in.ts';

const WORD = 'CANARY';
const TIMEOUT_MS = 180_000;

interface Planting {
  readonly format: Format;
  readonly fixture: string;
  /** Arguments of exiftool. */
  readonly tags: readonly string[];
  /** EXIF orientation of the fixture. */
  readonly orientation: number;
}

const EXIF = [
  `-EXIF:Make=${WORD} maker`,
  `-EXIF:Artist=${WORD} artist`,
  `-EXIF:UserComment=${WORD} comment`,
  '-EXIF:DateTimeOriginal=2026:05:04 03:02:01',
  '-GPSLatitude=50.9',
  '-GPSLatitudeRef=N',
];
const XMP = [`-XMP-dc:Creator=${WORD} creator`, `-XMP-photoshop:City=${WORD} city`];
const IPTC = [`-IPTC:Keywords=${WORD} keyword`, `-IPTC:City=${WORD} city`];
/** Names by which `metadataTags` lists planted tags. */
const LISTED_TAGS = [
  [EXIF, ['EXIF:GPSLatitude', 'EXIF:DateTimeOriginal']],
  [IPTC, ['IPTC:Keywords', 'IPTC:City']],
] as const;
const THUMBNAIL = '-ThumbnailImage<=thumbnail.jpg';

const PLANTINGS: readonly Planting[] = [
  {
    format: 'jpg',
    fixture: 'orientation-6-jpg',
    tags: [...EXIF, ...XMP, ...IPTC, `-Comment=${WORD}`, THUMBNAIL],
    orientation: 6,
  },
  {
    format: 'png',
    fixture: 'photo-png',
    tags: [...EXIF, ...XMP, `-PNG:Comment=${WORD}`, `-PNG:Author=${WORD}`],
    orientation: 6,
  },
  { format: 'webp', fixture: 'photo-webp', tags: [...EXIF, ...XMP], orientation: 6 },
  { format: 'avif', fixture: 'photo-avif', tags: [...EXIF, ...XMP], orientation: 1 },
  { format: 'heic', fixture: 'photo-heic', tags: [...EXIF, ...XMP], orientation: 1 },
  { format: 'gif', fixture: 'animated-gif', tags: [...XMP, `-Comment=${WORD}`], orientation: 1 },
  {
    format: 'tiff',
    fixture: 'two-pages-tiff',
    tags: [
      ...EXIF,
      ...XMP,
      ...IPTC,
      `-IFD1:ImageDescription=${WORD} page`,
      `-IFD1:Artist=${WORD} page`,
      '-Orientation#=6',
    ],
    orientation: 6,
  },
];

let engine: MatrixEngine;
let fixtures: readonly Fixture[];
const planted = new Map<Format, string>();

beforeAll(async () => {
  engine = await startMatrixEngine();
  fixtures = await sharedFixtures('image');
  const thumbnail = await sharp({ create: { width: 64, height: 48, channels: 3, background: '#888' } })
    .withExif({ IFD0: { Artist: `${WORD} thumbnail` } })
    .jpeg()
    .toBuffer();
  await writeFile(join(engine.directory, 'thumbnail.jpg'), thumbnail);
  for (const { format, fixture, tags } of PLANTINGS) {
    const path = join(engine.directory, `planted.${format}`);
    await copyFile(pathOf(fixture), path);
    await runTool(engine.directory, 'exiftool', ['-q', '-q', '-m', '-overwrite_original', ...tags, path]);
    planted.set(format, path);
  }
}, TIMEOUT_MS);
afterAll(() => engine.close());

function pathOf(name: string): string {
  const found = fixtures.find((one) => one.name === name);
  if (found === undefined) throw new Error(`no fixture ${name}`);
  return found.path;
}

async function process(path: string, operation: 'compress' | 'strip_metadata', options: SentOptions = {}) {
  const file = await engine.process({ path, filename: path, operation, options });
  return { path: file.path, bytes: await readFile(file.path), result: file.report.result };
}

const foundWords = (bytes: Buffer): string[] => wordsIn(bytes, [WORD]);

/** Returns the names of metadata tags that exiftool finds, without those of the image structure. */
async function metadataTags(path: string): Promise<string[]> {
  const list = await runTool(engine.directory, 'exiftool', ['-j', '-a', '-G0', '-s', '-n', path]);
  const [tags = {}] = JSON.parse(list) as Record<string, unknown>[];
  return Object.keys(tags).filter(
    (name) => /^(EXIF|XMP|IPTC|Photoshop|MakerNotes):/.test(name) && !STRUCTURE.test(name),
  );
}
const STRUCTURE =
  /^EXIF:(Orientation|SubfileType|Image(Width|Height)|BitsPerSample|Compression|Photometric\w*|Strip\w+|SamplesPerPixel|RowsPerStrip|PlanarConfiguration|Predictor|SampleFormat|[XY]Resolution|ResolutionUnit|PageNumber|YCbCr\w+|ExifByteOrder)$/;

async function pixelsOf(path: string, format: Format): Promise<Buffer> {
  if (format === 'tiff') {
    const pages = [0, 1].map((page) => sharp(path, { page, ignoreIcc: true }).raw().toBuffer());
    return Buffer.concat(await Promise.all(pages));
  }
  if (format !== 'heic') return sharp(path, { animated: true, ignoreIcc: true }).raw().toBuffer();
  const decoded = `${path}.tif`;
  await runTool(engine.directory, 'vips', ['heifload', path, decoded]);
  return sharp(decoded).raw().toBuffer();
}

describe('strip_metadata', () => {
  // Promise, Direct endpoints: Strip-metadata: what is removed and what is kept, for images and PDFs
  it.each(PLANTINGS)(
    'removes all planted words, places and dates from a $format and keeps the image',
    async ({ format, tags, orientation }) => {
      const before = planted.get(format)!;
      expect(foundWords(await readFile(before))).toEqual([WORD]);
      const listed = LISTED_TAGS.filter(([planting]) => planting.every((tag) => tags.includes(tag)));
      expect(await metadataTags(before)).toEqual(expect.arrayContaining(listed.flatMap(([, names]) => names)));
      const { bytes, path } = await process(before, 'strip_metadata');
      expect(foundWords(bytes)).toEqual([]);
      expect(await metadataTags(path)).toEqual([]);
      const [one, other] = await Promise.all([sharp(before).metadata(), sharp(path).metadata()]);
      expect(other.orientation ?? 1).toBe(orientation);
      expect(other.icc).toEqual(one.icc);
      expect(other.pages).toBe(one.pages);
      expect((await pixelsOf(path, format)).equals(await pixelsOf(before, format))).toBe(true);
    },
    TIMEOUT_MS,
  );
});

describe('compress', () => {
  it.concurrent.each(
    PLANTINGS.flatMap(({ format }) =>
      imageOptions.shape.format.unwrap().options.map((target) => [format, target] as const),
    ),
  )(
    'removes all planted words from a %s that becomes %s, except from a PNG',
    async (format, target) => {
      const { bytes, result } = await process(planted.get(format)!, 'compress', { image: { format: target } });
      if (result.output_format !== 'png') expect(foundWords(bytes)).toEqual([]);
      if (result.kept_original) expect(result.output_format).toBe('png');
    },
    TIMEOUT_MS,
  );

  it.concurrent.each(['jpg', 'webp', 'avif', 'heic', 'tiff'] as const)(
    'keeps the metadata of a %s on request',
    async (format) => {
      const options = { image: { strip_metadata: false } };
      const { bytes } = await process(planted.get(format)!, 'compress', options);
      expect(foundWords(bytes)).toEqual([WORD]);
    },
    TIMEOUT_MS,
  );
});
