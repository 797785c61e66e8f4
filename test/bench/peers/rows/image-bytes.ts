/** Bytes at an equal similarity over the calibration set: the encoders alone, without a server around them. */
import { readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import { calibrationSet, type BenchPicture, type PictureKind } from '#test/bench/calibration-set.ts';
import { ssimulacra2, type Score } from '#test/bench/ssimulacra2.ts';
import { engineDeps, runHandler, workOn } from '#test/fixtures/engine-work.ts';
import { imageHandler } from '#worker-image/engine/image/image-handler.ts';
import { similarityTo, openGuesses, tuneTo, type Guesses, type Similarity } from '../similarity.ts';
import { OURS } from '../measured.ts';
import { Samples, type Bench, type CaseFigures, type Row } from '../row.ts';
import { runProgram } from '../run-program.ts';

const FORMATS = ['jpg', 'webp', 'avif', 'png'] as const;
type Target = (typeof FORMATS)[number];
const KINDS: readonly PictureKind[] = ['photo', 'graphic'];
/** @param output - Has the extension of the target. */
type Encode = (input: string, output: string, quality: number) => Promise<unknown>;

/** Quality numbers of all of them run from 1 to 100. */
const ENCODERS: Readonly<Record<Target, Readonly<Record<string, Encode>>>> = {
  jpg: {
    sharp: (input, output, quality) => sharp(input).jpeg({ quality }).toFile(output),
    ImageMagick: imageMagick,
    // It recompresses: what it gets is the picture at quality 100.
    jpegoptim: async (input, output, quality) => {
      await sharp(input).jpeg({ quality: 100, chromaSubsampling: '4:4:4' }).toFile(output);
      await runProgram('jpegoptim', ['--quiet', '--strip-all', `--max=${quality}`, output]);
    },
  },
  webp: {
    sharp: (input, output, quality) => sharp(input).webp({ quality }).toFile(output),
    ImageMagick: imageMagick,
    cwebp: (input, output, quality) => runProgram('cwebp', ['-quiet', '-q', String(quality), input, '-o', output]),
  },
  avif: {
    sharp: (input, output, quality) => sharp(input).avif({ quality }).toFile(output),
    // Its scale is a quantizer from 63, the worst, to 0.
    avifenc: (input, output, quality) => {
      const quantizer = Math.round(63 - (quality * 63) / 100);
      const range = ['--min', String(Math.max(0, quantizer - 5)), '--max', String(Math.min(63, quantizer + 5))];
      return runProgram('avifenc', ['--jobs', '1', ...range, input, output]);
    },
  },
  png: {
    sharp: (input, output, quality) => sharp(input).png({ palette: true, quality }).toFile(output),
    pngquant: (input, output, quality) =>
      runProgram('pngquant', ['--force', `--quality=0-${quality}`, '--output', output, input]),
  },
};

export const imageBytes: Row = {
  title: 'Bytes at an equal similarity',
  about: `The calibration set (photos and graphics of 768 × 512 pixels at most) through the encoders alone. For each image the service's
encoder uses \`image.quality\` 75; every other gets the lowest quality number at which its result is as similar to the image
(SSIMULACRA2), with its other settings unchanged. The bytes are the sums over the images for which all of them reach that
similarity; seconds are those of the last attempt, with the encoder's own number of threads, start of the program included.`,
  peers: ['ImageMagick', 'cwebp', 'avifenc', 'jpegoptim', 'pngquant'],
  columns: [
    { title: 'bytes', metrics: ['bytes'], digits: 0, ratio: true },
    { title: 'SSIMULACRA2', metrics: ['score'], digits: 1 },
    { title: 'seconds', metrics: ['seconds'], digits: 1 },
    { title: 'images', metrics: ['pictures'], digits: 0 },
    { title: 'could not', metrics: ['failed'], digits: 0 },
  ],
  front: { speed: { metrics: ['seconds'], better: 'less' }, size: 'bytes', similarity: 'score' },
  cases: KINDS.flatMap((kind) => FORMATS.map((format) => nameOf(kind, format))),
  measure,
};

function nameOf(kind: PictureKind, format: Target): string {
  return `${kind}s as ${format}`;
}

async function* measure(bench: Bench): AsyncGenerator<CaseFigures> {
  const pictures = await calibrationSet(bench.cache);
  const score = await ssimulacra2(bench.cache);
  const guesses = await openGuesses(bench.cache);
  for (const kind of KINDS)
    for (const format of FORMATS) {
      const name = nameOf(kind, format);
      if (!bench.wanted(name)) continue;
      const ofKind = pictures.filter((picture) => picture.kind === kind);
      yield { name, figures: await measureSet({ bench, score, guesses, format, pictures: ofKind, name }) };
    }
}

interface Encoded {
  readonly bytes: number;
  readonly score: number;
  readonly seconds: number;
}

interface Measuring {
  readonly bench: Bench;
  readonly score: Score;
  readonly guesses: Guesses;
  readonly format: Target;
  readonly pictures: readonly BenchPicture[];
  readonly name: string;
}

async function measureSet({
  bench,
  score,
  guesses,
  format,
  pictures,
  name,
}: Measuring): Promise<CaseFigures['figures']> {
  const rows: Map<string, Encoded | null>[] = [];
  for (const [at, picture] of pictures.entries()) {
    bench.say(`${name}: ${at + 1} of ${pictures.length}, ${picture.name}`);
    const similarity = await similarityTo(score, bench.folder, await readFile(picture.path));
    rows.push(await measurePicture(bench, { picture, format, similarity, guesses }));
  }
  return sums(rows);
}

interface Encoding {
  readonly picture: BenchPicture;
  readonly format: Target;
  readonly similarity: Similarity;
  readonly guesses: Guesses;
}

async function measurePicture(
  bench: Bench,
  { picture, format, similarity, guesses }: Encoding,
): Promise<Map<string, Encoded | null>> {
  const own = await encodeOurs(picture, format, similarity);
  const found = new Map<string, Encoded | null>([[OURS, own]]);
  for (const [who, encode] of Object.entries(ENCODERS[format])) {
    const output = join(bench.folder, `${picture.name}-${who.replaceAll(' ', '')}.${format}`);
    let seconds = 0;
    const name = `${picture.name}.${format}, ${who}`;
    const attempt = async (quality: number): Promise<{ bytes: Buffer; score: number }> => {
      const startedAt = performance.now();
      await encode(picture.path, output, quality);
      seconds = (performance.now() - startedAt) / 1000;
      const bytes = await readFile(output);
      return { bytes, score: await similarity.of(bytes) };
    };
    const tuned = await tuneTo({ wanted: own.score, guess: guesses.of(name), encode: attempt });
    if (tuned !== null) await guesses.keep(name, tuned.quality);
    found.set(who, tuned === null ? null : { bytes: tuned.bytes, score: tuned.score, seconds });
  }
  return found;
}

async function encodeOurs(picture: BenchPicture, format: Target, similarity: Similarity): Promise<Encoded> {
  const work = await workOn({
    path: picture.path,
    format: 'png',
    operation: 'compress',
    options: { image: { format, resize: false } },
  });
  const startedAt = performance.now();
  const { path } = await runHandler(imageHandler, work, engineDeps());
  const seconds = (performance.now() - startedAt) / 1000;
  const score = await similarity.of(await readFile(path));
  const { size } = await stat(path);
  await rm(work.directory, { recursive: true });
  return { bytes: size, score, seconds };
}

/** Over the pictures that everybody managed; an encoder that fails on half of them does not hold the others back. */
function sums(rows: readonly Map<string, Encoded | null>[]): CaseFigures['figures'] {
  const samples = new Samples();
  const who = [...(rows[0]?.keys() ?? [])];
  const failed = (name: string): number => rows.filter((row) => row.get(name) == null).length;
  const fit = who.filter((name) => failed(name) * 2 < rows.length);
  const shared = rows.filter((row) => fit.every((name) => row.get(name) != null));
  for (const name of who) {
    samples.add(name, 'failed', failed(name));
    if (!fit.includes(name)) continue;
    const all = shared.flatMap((row) => row.get(name) ?? []);
    const sum = (of: (one: Encoded) => number): number => all.reduce((total, one) => total + of(one), 0);
    samples.add(
      name,
      'bytes',
      sum(({ bytes }) => bytes),
    );
    samples.add(name, 'score', sum((one) => one.score) / all.length);
    samples.add(
      name,
      'seconds',
      sum(({ seconds }) => seconds),
    );
    samples.add(name, 'pictures', all.length);
  }
  return samples.figures;
}

function imageMagick(input: string, output: string, quality: number): Promise<unknown> {
  return runProgram('convert-im6.q16', [input, '-quality', String(quality), output]);
}
