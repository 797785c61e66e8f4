/**
 * Makes the published samples in `api/samples/files/` and their manifest, by our own code and the tools
 * that the service uses anyway: `node hack/make-samples.ts`. Pictures, sounds, texts and letters are
 * drawn by the code, so that nobody else's work is in them.
 */
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import type { Format } from '#crds/formats.ts';
import { FORMATS } from '#crds/formats.ts';
import type { ErrorCode } from '#crds/error-codes.ts';
import { blankPng } from './samples/blank-png.ts';
import { budgetDocument, letterDocument, reportDocument, slidesDocument, type Picture } from './samples/documents.ts';
import { graphic } from './samples/graphic.ts';
import { landscape } from './samples/landscape.ts';
import { clip, silentFile, talk } from './samples/media.ts';
import { people } from './samples/people.ts';
import { office, runTool } from './samples/tools.ts';
import { typeface } from './samples/typeface.ts';

/** What makes the sample in the folder under its name; a part may use those made before it. */
interface Recipe {
  readonly name: string;
  readonly format: Format;
  /** null when the service works on it. */
  readonly error: ErrorCode | null;
  readonly make: (directory: string) => Promise<unknown>;
}

const RECIPES: readonly Recipe[] = [
  { name: 'photo.jpg', format: 'jpg', error: null, make: photo },
  {
    name: 'graphic.png',
    format: 'png',
    error: null,
    make: (at) =>
      sharp(Buffer.from(graphic(1600, 1000)))
        .png()
        .toFile(join(at, 'graphic.png')),
  },
  {
    name: 'photo.heic',
    format: 'heic',
    error: null,
    make: (at) => runTool(at, 'heif-enc', ['-q', '55', '-o', 'photo.heic', 'photo.jpg']),
  },
  { name: 'report.pdf', format: 'pdf', error: null, make: report },
  { name: 'clip.mp4', format: 'mp4', error: null, make: clip },
  { name: 'talk.mp3', format: 'mp3', error: null, make: talk },
  { name: 'letter.docx', format: 'docx', error: null, make: letter },
  { name: 'budget.xlsx', format: 'xlsx', error: null, make: budget },
  { name: 'slides.pptx', format: 'pptx', error: null, make: slides },
  { name: 'people.csv', format: 'csv', error: null, make: (at) => writeFile(join(at, 'people.csv'), people(400, 12)) },
  { name: 'typeface.ttf', format: 'ttf', error: null, make: (at) => writeFile(join(at, 'typeface.ttf'), typeface()) },
  { name: 'encrypted.pdf', format: 'pdf', error: 'encrypted_pdf', make: encryptedPdf },
  { name: 'corrupt.jpg', format: 'jpg', error: 'processing_failed', make: corruptPhoto },
  {
    name: 'too-many-pixels.png',
    format: 'png',
    error: 'limit_exceeded',
    make: (at) => writeFile(join(at, 'too-many-pixels.png'), blankPng(10_000, 10_001)),
  },
  { name: 'no-audio.m4a', format: 'm4a', error: 'processing_failed', make: silentFile },
  {
    name: 'unknown.bin',
    format: 'jpg',
    error: 'unsupported_input',
    make: (at) => writeFile(join(at, 'unknown.bin'), 'This is none of the formats.\n'),
  },
];

await makeSamples(join(import.meta.dirname, '../api/samples'));

async function makeSamples(target: string): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'samples-'));
  await rm(join(target, 'files'), { recursive: true, force: true });
  await mkdir(join(target, 'files'));
  const manifest = [];
  for (const { name, format, error, make } of RECIPES) {
    await make(directory);
    const bytes = await readFile(join(directory, name));
    await writeFile(join(target, 'files', name), bytes);
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    const known = error === 'unsupported_input' ? { kind: null, format: null } : { kind: FORMATS[format].kind, format };
    manifest.push({ name, ...known, size: bytes.length, sha256, expected_error: error });
    process.stdout.write(`${name} ${bytes.length}\n`);
  }
  await writeFile(join(target, 'manifest.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  await rm(directory, { recursive: true });
}

async function photo(directory: string): Promise<void> {
  const exif = {
    IFD0: {
      Make: 'Mediajobs',
      Model: 'Sample',
      Artist: 'The mediajobs project',
      ImageDescription: 'A made-up landscape',
    },
    IFD2: { DateTimeOriginal: '2026:05:17 09:41:00', FNumber: '8/1', ExposureTime: '1/250', ISOSpeedRatings: '100' },
    IFD3: { GPSLatitudeRef: 'N', GPSLatitude: '47/1 25/1 0/1', GPSLongitudeRef: 'E', GPSLongitude: '10/1 58/1 0/1' },
  };
  await landscape({ width: 1920, height: 1280, seed: 3 })
    .withExif(exif)
    .jpeg({ quality: 95 })
    .toFile(join(directory, 'photo.jpg'));
}

async function report(directory: string): Promise<void> {
  const pictures = await picturesOf({ width: 1200, height: 800, seeds: [5, 8, 11, 14], widthCm: 8 });
  await writeFile(join(directory, 'report.fodt'), reportDocument(pictures));
  const options = JSON.stringify({
    ReduceImageResolution: { type: 'boolean', value: 'false' },
    UseLosslessCompression: { type: 'boolean', value: 'false' },
    Quality: { type: 'long', value: '95' },
  });
  await office(directory, 'report.fodt', `pdf:writer_pdf_Export:${options}`);
  await rename(join(directory, 'report.pdf'), join(directory, 'exported.pdf'));
  // LibreOffice lets every page name the pictures of all pages; most programs do not.
  const ownPictures = ['--remove-unreferenced-resources=yes', 'exported.pdf', '--pages', '.', '1-z', '--'];
  await runTool(directory, 'qpdf', [...ownPictures, 'report.pdf']);
}

async function letter(directory: string): Promise<void> {
  const [picture] = await picturesOf({ width: 900, height: 300, seeds: [21], widthCm: 9 });
  if (picture === undefined) throw new Error('no picture was made');
  await writeFile(join(directory, 'letter.fodt'), letterDocument(picture));
  await office(directory, 'letter.fodt', 'docx');
}

async function budget(directory: string): Promise<void> {
  await writeFile(join(directory, 'budget.fods'), budgetDocument());
  await office(directory, 'budget.fods', 'xlsx');
}

async function slides(directory: string): Promise<void> {
  const pictures = await picturesOf({ width: 900, height: 600, seeds: [31, 32, 33, 34, 35], widthCm: 12 });
  await writeFile(join(directory, 'slides.fodp'), slidesDocument(pictures));
  await office(directory, 'slides.fodp', 'pptx');
}

interface PictureSet {
  readonly width: number;
  readonly height: number;
  readonly seeds: readonly number[];
  readonly widthCm: number;
}

async function picturesOf({ width, height, seeds, widthCm }: PictureSet): Promise<Picture[]> {
  const heightCm = (widthCm * height) / width;
  const make = async (seed: number): Promise<Picture> => {
    const jpeg = await landscape({ width, height, seed }).jpeg({ quality: 92 }).toBuffer();
    return { jpeg, widthCm, heightCm };
  };
  return Promise.all(seeds.map(make));
}

async function encryptedPdf(directory: string): Promise<void> {
  await runTool(directory, 'qpdf', ['report.pdf', '--pages', '.', '1', '--', 'first-page.pdf']);
  const passwords = ['--encrypt', 'reader', 'owner', '256', '--'];
  await runTool(directory, 'qpdf', [...passwords, 'first-page.pdf', 'encrypted.pdf']);
}

/** Whole at both ends, nonsense from the frame header on. */
async function corruptPhoto(directory: string): Promise<void> {
  const bytes = await landscape({ width: 320, height: 240, seed: 9 }).jpeg().toBuffer();
  const scan = bytes.indexOf(Buffer.from([0xff, 0xc0]));
  bytes.fill(0xa5, scan + 2, bytes.length - 2);
  await writeFile(join(directory, 'corrupt.jpg'), bytes);
}
