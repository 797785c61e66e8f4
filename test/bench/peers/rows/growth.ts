/** How the cost of a file grows with its size: a fixed part and a slope, by least squares over some sizes. */
import { readFile } from 'node:fs/promises';
import { join, parse } from 'node:path';
import { fetchPdfSamples } from '#test/bench/pdf-samples.ts';
import { csvPieces } from '../csv-pieces.ts';
import type { Figure } from '../measured.ts';
import { makeSound, makeVideo } from '../media-samples.ts';
import { makeOrders, makeReport } from '../office-samples.ts';
import { photoOf } from '../photo-of-size.ts';
import { Samples, type Bench, type Row } from '../row.ts';
import { runProgram } from '../run-program.ts';
import { conversion, direct, job, measureCases, measureSizedFile, type SizedFile, type Sizing } from '../sized-file.ts';

interface Growth {
  readonly one: string;
  readonly many: string;
  readonly sizes: readonly number[];
  readonly fileOf: (size: number) => SizedFile;
}

const MEGAPIXELS = { one: 'megapixel', many: 'megapixels', sizes: [3, 6, 12, 24] } as const;
const MEGABYTE = 1e6;
const GROWTHS: Readonly<Record<string, Growth>> = {
  'photo, jpg': { ...MEGAPIXELS, fileOf: photoTo('jpg') },
  'photo to webp': { ...MEGAPIXELS, fileOf: photoTo('webp') },
  'photo to avif': { ...MEGAPIXELS, fileOf: photoTo('avif') },
  'pdf, the first pages of a paper': {
    one: 'page',
    many: 'pages',
    sizes: [2, 4, 8, 14],
    fileOf: (pages) => direct('paper.pdf', {}, (bench) => firstPages(bench, pages)),
  },
  'docx to pdf': {
    one: 'page',
    many: 'pages',
    sizes: [5, 20, 80],
    fileOf: (pages) =>
      conversion('report.docx', 'pdf', async ({ folder }) => readFile(await makeReport(folder, pages))),
  },
  'xlsx to pdf': {
    one: 'thousand rows',
    many: 'thousand rows',
    sizes: [0.5, 2, 8],
    fileOf: (thousands) =>
      conversion('orders.xlsx', 'pdf', async ({ folder }) => readFile(await makeOrders(folder, 1000 * thousands))),
  },
  'csv to json': { one: 'megabyte', many: 'megabytes', sizes: [10, 40, 80], fileOf: tableTo('json') },
  'csv to xlsx': { one: 'megabyte', many: 'megabytes', sizes: [5, 10, 25], fileOf: tableTo('xlsx') },
  'mp3 to m4a': {
    one: 'minute',
    many: 'minutes',
    sizes: [2, 3, 5],
    fileOf: (minutes) =>
      job('sound.mp3', { audio: { format: 'm4a' } }, async (bench) =>
        beginning((await makeSound(bench)).path, 60 * minutes),
      ),
  },
  '1080p to H.264': {
    one: 'second',
    many: 'seconds',
    sizes: [2, 5, 10],
    fileOf: (seconds) =>
      job('view.mp4', { video: { codec: 'h264' } }, async (bench) => beginning((await makeVideo(bench)).path, seconds)),
  },
};

export const growth: Row = {
  title: 'How cost grows',
  about: `The same kind of file in several sizes, one at a time through the running service. CPU is that of all its processes, less what they take
at rest. The last two lines are a straight line through the sizes (least squares): what one more unit costs, and what a file
costs besides.`,
  peers: [],
  columns: [
    { title: 'CPU seconds', metrics: ['cpu'], digits: 3, noise: true },
    { title: 'seconds', metrics: ['seconds'], digits: 3 },
    { title: 'MiB', metrics: ['memory'], digits: 1 },
  ],
  cases: Object.keys(GROWTHS),
  measure: (bench) => measureCases(bench, GROWTHS, measureGrowth),
};

async function measureGrowth(
  sizing: Sizing,
  name: string,
  { one, many, sizes, fileOf }: Growth,
): Promise<readonly Figure[]> {
  const measured = new Samples();
  const lines = new Samples();
  const bySize: (readonly Figure[])[] = [];
  for (const size of sizes) {
    const figures = await measureSizedFile(sizing, `${name}: ${size} ${many}`, fileOf(size));
    for (const { metric, samples } of figures)
      for (const value of samples) measured.add(`${size} ${many}`, metric, value);
    bySize.push(figures);
  }
  for (const [at, { metric, samples }] of (bySize[0] ?? []).entries())
    for (const round of samples.keys()) {
      const values = bySize.map((figures) => figures[at]?.samples[round] ?? Number.NaN);
      const { slope, fixed } = straightLine(sizes, values);
      lines.add(`each ${one} more`, metric, slope);
      lines.add('besides', metric, fixed);
    }
  return [...measured.figures, ...lines.figures];
}

/** Returns the line with the smallest sum of squared distances. */
function straightLine(sizes: readonly number[], values: readonly number[]): { slope: number; fixed: number } {
  const mean = (all: readonly number[]): number => all.reduce((sum, one) => sum + one, 0) / all.length;
  const [meanSize, meanValue] = [mean(sizes), mean(values)];
  const covariance = mean(sizes.map((size, at) => (size - meanSize) * ((values[at] ?? Number.NaN) - meanValue)));
  const slope = covariance / mean(sizes.map((size) => (size - meanSize) ** 2));
  return { slope, fixed: meanValue - slope * meanSize };
}

function photoTo(format: 'jpg' | 'webp' | 'avif'): Growth['fileOf'] {
  return (megapixels) => job('photo.jpg', { image: { format, resize: false } }, (bench) => photoOf(bench, megapixels));
}

function tableTo(format: 'json' | 'xlsx'): Growth['fileOf'] {
  return (megabytes) =>
    conversion('rows.csv', format, async () => Buffer.from([...csvPieces(megabytes * MEGABYTE)].join('')));
}

async function firstPages({ folder }: Bench, pages: number): Promise<Buffer> {
  const samples = await fetchPdfSamples(folder);
  const path = join(folder, 'pages.pdf');
  const paper = samples.find(({ what }) => what.startsWith('paper'))?.path ?? '';
  await runProgram('qpdf', [paper, '--pages', '.', `1-${pages}`, '--', path]);
  return readFile(path);
}

/** Returns the first seconds of a recording. */
async function beginning(path: string, seconds: number): Promise<Buffer> {
  const { dir, ext } = parse(path);
  const shorter = join(dir, `beginning${ext}`);
  await runProgram('ffmpeg', ['-v', 'error', '-y', '-i', path, '-t', String(seconds), '-c', 'copy', shorter]);
  return readFile(shorter);
}
