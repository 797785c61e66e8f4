import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import type { Format } from '#crds/catalogue/formats.ts';
import { engineDeps, freshDirectory, runHandler, workOn, type Fixture } from '#test/fixtures/engine-work.ts';
import { sharedFixtures } from '#test/fixtures/make-fixtures.ts';
import { parseExif } from '#worker-image/engine/image/carried-exif.ts';
import { imageHandler } from '#worker-image/engine/image/image-handler.ts';

const PLANTED = {
  Make: 'Planted (Maker)',
  Software: 'Planted 1.0',
  DateTimeOriginal: '2026:05:04 03:02:01',
  GPSLatitude: 50.9,
  GPSLatitudeRef: 'South',
};
const TAGS = Object.keys(PLANTED);

let directory = '';
let fixtures: readonly Fixture[] = [];

beforeAll(async () => {
  directory = await freshDirectory();
  fixtures = await sharedFixtures('image');
}, 180_000);

it.each<[string, 'jpg' | 'webp' | 'avif' | 'heic' | 'png']>([
  ['photo-heic', 'jpg'],
  ['photo-heic', 'heic'],
  ['photo-tiff', 'webp'],
  ['photo-tiff', 'avif'],
  ['photo-dng', 'jpg'],
  ['photo-dng', 'png'],
])('camera, location and software of %s are in the %s when metadata is kept', async (name, format) => {
  const source = await planted(name);
  const options = { image: { format, strip_metadata: false, resize: false } };
  const produced = await runHandler(imageHandler, await workOn({ ...source, operation: 'compress', options }));
  expect(produced.warnings).toEqual([]);
  expect(await readTags(produced.path)).toMatchObject(PLANTED);
});

it.each<[string, 'jpg' | 'webp']>([
  ['photo-heic', 'jpg'],
  ['photo-tiff', 'webp'],
  ['photo-dng', 'jpg'],
])('camera, location and software of %s are not in the %s when metadata is stripped', async (name, format) => {
  const source = await planted(name);
  const options = { image: { format, resize: false } };
  const produced = await runHandler(imageHandler, await workOn({ ...source, operation: 'compress', options }));
  for (const tag of TAGS) expect(await readTags(produced.path)).not.toHaveProperty(tag);
});

it('a GIF without the details that the caller keeps has a warning', async () => {
  const options = { image: { format: 'gif', strip_metadata: false } } as const;
  const work = await workOn({ ...(await planted('photo-heic')), operation: 'compress', options });
  const { warnings } = await runHandler(imageHandler, work);
  expect(warnings).toEqual([
    expect.stringContaining('A gif file cannot contain camera, location and software details'),
  ]);
});

it.each([
  ['a header alone', Buffer.from('II*\0\x08\0\0\0', 'latin1')],
  ['a directory outside of the file', Buffer.from(`II*\0\xff\xff\0\0${'\0'.repeat(16)}`, 'latin1')],
])('%s is refused as damaged', (_what, bytes) => {
  expect(() => parseExif(bytes)).toThrow(expect.objectContaining({ code: 'processing_failed' }));
});

it('the details of the first page are read, whatever follows', () => {
  const make = Buffer.from('II*\0\x08\0\0\0\x01\0\x0f\x01\x02\0\x04\0\0\0abc\0\xff\xff\xff\0', 'latin1');
  expect(parseExif(make)).toMatchObject({ IFD0: { Make: 'abc (ASCII)' } });
});

async function planted(name: string): Promise<Fixture> {
  const found = fixtures.find((one) => one.name === name);
  if (found === undefined) throw new Error(`no fixture ${name}`);
  const path = join(await freshDirectory(), `planted.${found.format satisfies Format}`);
  await copyFile(found.path, path);
  const tags = Object.entries(PLANTED).map(([tag, value]) => `-${tag}=${value}`);
  await exiftool(['-q', '-overwrite_original', ...tags, path]);
  return { ...found, path };
}

async function readTags(path: string): Promise<Record<string, unknown>> {
  const text = await exiftool(['-json', '-c', '%.1f', ...TAGS.map((tag) => `-EXIF:${tag}`), path]);
  const [tags = {}] = JSON.parse(text) as Record<string, unknown>[];
  const latitude = Number.parseFloat(String(tags['GPSLatitude']));
  return Number.isNaN(latitude) ? tags : { ...tags, GPSLatitude: latitude };
}

async function exiftool(args: readonly string[]): Promise<string> {
  const { run, signal } = engineDeps();
  const { exitCode, stdout, stderr } = await run({ file: 'exiftool', args, directory, signal, timeoutSeconds: 60 });
  if (exitCode !== 0) throw new Error(`exiftool ended with ${exitCode}: ${stderr}`);
  return stdout;
}
