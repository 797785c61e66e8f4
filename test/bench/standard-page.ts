/** The page that says what the quality scale gives, out of what was measured. */
import { cpus } from 'node:os';
import type { PictureKind } from '#test/bench/calibration-set.ts';
import { encoderQuality, gifLoss } from '#worker-image/engine/image/encode/quality-scale.ts';

export interface Measured {
  readonly who: 'engine' | 'library';
  readonly format: string;
  /** Quality number: of the service's scale for the engine, of the encoder's own scale for the library. */
  readonly quality: number;
  readonly kind: PictureKind;
  readonly bytes: number;
  readonly score: number;
}

interface About {
  readonly date: Date;
  readonly counts: Readonly<Record<PictureKind, number>>;
  readonly metric: string;
  readonly library: string;
}

export function standardPage(measured: readonly Measured[], about: About): string {
  const { date, counts, metric, library } = about;
  return `# The standard v1

<!-- Written by test/bench/image-quality.ts; do not edit. -->

\`image.quality\` stands for a similarity to the input, whatever the format. The similarity is measured with SSIMULACRA2:
100 is the same, 90 is hardly told apart, 70 is good, 50 is medium. 75, the default, is meant to give about 74.

Measured on ${date.toISOString().slice(0, 10)} with ${metric} and ${library} on ${cpus().length} cores:
${counts.photo} photos and ${counts.graphic} graphics (screenshots, drawings, text), each 768 × 512 pixels at most.
\`node test/bench/run.ts image-quality\` measures it again and writes this page.

## What comes out

Mean SSIMULACRA2 at three qualities.

${scores(measured, 'photo')}

${scores(measured, 'graphic')}

A PNG has no lossy coding of its own: below 100 its colours are reduced to a palette where that keeps the similarity, and
it is lossless where it does not. A graphic in WebP has such a palette too, where that is not larger: so
both may be more like the input than the number asks for. GIF is measured from a GIF of the picture: the frames of a GIF are
compressed with losses by gifsicle, and graphics hardly become smaller with more of them. Other formats become a GIF with the
256 colors that fit best, of which a photo keeps about 69.

## Size

Total bytes, divided by those of ${library} with its default settings at the same mean score. Below 1 is smaller;
"never as good" where the defaults do not come to that score.

${sizes(measured)}

AVIF is written with effort 4 up to a megapixel, 3 up to 24, 2 up to 60 and 1 above; the library's default is 4 for all.
From 4 to 3 a file takes a quarter of the time and 5 % more bytes. A photo with so much detail that effort 3 would save 3 % at most
is written with effort 2, in 0.6 of the time. Below 80, AVIF of photos has subsampled chroma (4:2:0), as WebP has and JPEG has below 95:
it is AV1's main profile, which decoders in hardware have too, and takes 0.87 of the time for 1 % more bytes.

## The encoders' own numbers

Between the rows they are interpolated.

${numbers('photo')}

${numbers('graphic')}
`;
}

const QUALITIES = [50, 75, 90];

function scores(measured: readonly Measured[], kind: PictureKind): string {
  const formats = [...new Set(measured.filter(({ who }) => who === 'engine').map(({ format }) => format))];
  const rows = QUALITIES.map((quality) => [
    String(quality),
    ...formats.map((format) =>
      mean(measured.filter((one) => is(one, { who: 'engine', kind, format, quality }))).toFixed(1),
    ),
  ]);
  return table([`${kind}s, quality`, ...formats], rows);
}

function sizes(measured: readonly Measured[]): string {
  const rows = (['photo', 'graphic'] as const).flatMap((kind) =>
    QUALITIES.map((quality) => [
      `${kind}s at ${quality}`,
      ...['jpg', 'webp', 'avif'].map((format) => relativeSize(measured, { kind, format, quality })),
    ]),
  );
  return table(['', 'jpg', 'webp', 'avif'], rows);
}

function relativeSize(
  measured: readonly Measured[],
  wanted: { kind: PictureKind; format: string; quality: number },
): string {
  const ours = measured.filter((one) => is(one, { who: 'engine', ...wanted }));
  const { kind, format } = wanted;
  const library = measured.filter((one) => is(one, { who: 'library', kind, format }));
  const points = [...Map.groupBy(library, ({ quality }) => quality).values()]
    .map((all) => ({ score: mean(all), bytes: total(all) }))
    .toSorted((one, other) => one.score - other.score);
  const bytes = bytesAt(points, mean(ours));
  return bytes === null ? 'never as good' : (total(ours) / bytes).toFixed(2);
}

/** Bytes grow by a factor with each point of score; null above the best score. */
function bytesAt(points: readonly { score: number; bytes: number }[], score: number): number | null {
  const above = points.find((point) => point.score >= score);
  const high = above ?? points.at(-1);
  const low = points.filter((point) => point !== high && point.score <= score).at(-1) ?? points[1];
  if (high === undefined || low === undefined || (above === undefined && score - high.score > REACH)) return null;
  const share = (score - low.score) / (high.score - low.score);
  return low.bytes * (high.bytes / low.bytes) ** share;
}

/** Points of score that are extrapolated at most. */
const REACH = 3;

function numbers(kind: PictureKind): string {
  const rows = [30, 40, 50, 60, 70, 75, 80, 85, 90, 95, 100].map((quality) => {
    const { jpg, webp, avif, heic } = encoderQuality(quality, kind);
    return [quality, jpg, webp, avif, heic, gifLoss(quality)].map(String);
  });
  return table([`${kind}s`, 'jpg', 'webp', 'avif', 'heic', 'gif, --lossy'], rows);
}

function is(one: Measured, wanted: Partial<Measured>): boolean {
  return Object.entries(wanted).every(([name, value]) => one[name as keyof Measured] === value);
}

function mean(all: readonly Measured[]): number {
  return all.reduce((sum, { score }) => sum + score, 0) / all.length;
}

function total(all: readonly Measured[]): number {
  return all.reduce((sum, { bytes }) => sum + bytes, 0);
}

/** Columns of equal width, as the formatter has them. */
function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((cell, at) => Math.max(3, cell.length, ...rows.map((row) => (row[at] ?? '').length)));
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(' | ')} |`;
  return [line(head), `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`, ...rows.map(line)].join('\n');
}
