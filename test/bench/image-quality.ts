/**
 * Results of the quality scale on the calibration set, format by format, and the bytes beside the image library's
 * own defaults at an equal score. Writes `docs/reference/standard-v1.md`. Takes about a quarter of an hour.
 */
import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import sharp, { type Sharp } from 'sharp';
import { calibrationSet, type BenchPicture, type PictureKind } from '#test/bench/calibration-set.ts';
import { METRIC_VERSION, ssimulacra2 } from '#test/bench/ssimulacra2.ts';
import { standardPage, type Measured } from '#test/bench/standard-page.ts';
import { engineDeps, runHandler, workOn } from '#test/fixtures/engine-work.ts';
import { imageHandler } from '#worker-image/engine/image/image-handler.ts';

const FORMATS = ['jpg', 'webp', 'avif', 'heic', 'png', 'gif'] as const;
const QUALITIES = [50, 75, 90] as const;
/** The library's own settings, at numbers that enclose our scores. */
const DEFAULTS: Readonly<Record<string, { numbers: readonly number[]; encode: (from: Sharp, n: number) => Sharp }>> = {
  jpg: { numbers: [45, 70, 90], encode: (from, quality) => from.jpeg({ quality }) },
  webp: { numbers: [45, 75, 93], encode: (from, quality) => from.webp({ quality }) },
  avif: { numbers: [36, 54, 76], encode: (from, quality) => from.avif({ quality }) },
};
/** Images that are measured at once: the scores come from processes with one thread. */
const AT_ONCE = 6;
const PAGE = new URL('../../docs/reference/standard-v1.md', import.meta.url);

const cache = process.env['MEDIAJOBS_BENCH_CACHE'] ?? join(homedir(), '.cache', 'mediajobs-bench');
await mkdir(cache, { recursive: true });
const [pictures, score] = await Promise.all([calibrationSet(cache), ssimulacra2(cache)]);
const deps = engineDeps();
const measured: Measured[] = [];
const left = [...pictures];
await Promise.all(Array.from({ length: AT_ONCE }, measureNext));
const page = standardPage(measured, {
  date: new Date(),
  counts: { photo: countOf('photo'), graphic: countOf('graphic') },
  metric: `ssimulacra2_rs ${METRIC_VERSION}`,
  library: `sharp ${sharp.versions.sharp ?? ''}`,
});
await writeFile(PAGE, page);
process.stdout.write(page);

async function measureNext(): Promise<void> {
  for (let picture = left.shift(); picture !== undefined; picture = left.shift()) {
    for (const format of FORMATS) for (const quality of QUALITIES) measured.push(await ours(picture, format, quality));
    for (const format of Object.keys(DEFAULTS)) measured.push(...(await theirs(picture, format)));
    process.stdout.write(`${left.length} to go: ${picture.name}\n`);
  }
}

async function theirs(picture: BenchPicture, format: string): Promise<Measured[]> {
  const made: Measured[] = [];
  const { numbers = [], encode } = DEFAULTS[format] ?? {};
  for (const quality of numbers) {
    const bytes = (await encode?.(sharp(picture.path), quality).toBuffer()) ?? Buffer.alloc(0);
    const row = { who: 'library', format, quality, kind: picture.kind } as const;
    made.push({ ...row, bytes: bytes.length, score: await scoreOf(picture, bytes) });
  }
  return made;
}

async function ours(picture: BenchPicture, format: (typeof FORMATS)[number], quality: number): Promise<Measured> {
  const options = { image: { format, quality, resize: false } };
  const input = format === 'gif' ? await asGif(picture) : { path: picture.path, format: 'png' as const };
  const work = await workOn({ ...input, operation: 'compress', options });
  const produced = await runHandler(imageHandler, work, deps);
  const { size } = await stat(produced.path);
  const plain = format === 'heic' ? await decodeHeic(produced.path) : await readFile(produced.path);
  await rm(work.directory, { recursive: true });
  const row = { who: 'engine', format, quality, kind: picture.kind } as const;
  const reference = format === 'gif' ? await decodeGif(picture, input.path) : picture.path;
  return { ...row, bytes: size, score: await scoreOf({ ...picture, path: reference }, plain) };
}

/** Returns a GIF of the picture: what its palette loses is not the service's loss. */
async function asGif({ name, path }: BenchPicture): Promise<{ path: string; format: 'gif' }> {
  const gif = join(cache, `${name}.gif`);
  await sharp(path).gif().toFile(gif);
  return { path: gif, format: 'gif' };
}

async function decodeGif({ name }: BenchPicture, path: string): Promise<string> {
  const decoded = join(cache, `${name}-gif.png`);
  await sharp(path).removeAlpha().png({ compressionLevel: 1 }).toFile(decoded);
  return decoded;
}

async function decodeHeic(path: string): Promise<Buffer> {
  const decoded = `${path}.tif`;
  await deps.run({
    file: 'vips',
    args: ['heifload', path, `${decoded}[compression=none]`],
    directory: cache,
    signal: deps.signal,
    timeoutSeconds: 60,
  });
  return readFile(decoded);
}

async function scoreOf(picture: BenchPicture, encoded: Buffer): Promise<number> {
  const decoded = join(cache, `${picture.name}-decoded.png`);
  await sharp(encoded).toColourspace('srgb').removeAlpha().png({ compressionLevel: 1 }).toFile(decoded);
  return score(picture.path, decoded);
}

function countOf(kind: PictureKind): number {
  return pictures.filter((picture) => picture.kind === kind).length;
}
