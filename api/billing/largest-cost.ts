import {
  CONVERT_TARGETS,
  DIRECT_KINDS,
  FORMATS,
  formatOfName,
  OPERATION_KINDS,
  type Kind,
  type Operation,
} from '#crds/formats.ts';
import type { ResolvedOptions } from '#crds/options/options.ts';
import type { FileLimits } from '#crds/plans.ts';
import { PRICE_BOOK, priceOf, unitsOf, type PriceBook } from '#crds/prices.ts';

interface PlannedWork {
  readonly operation: Operation;
  readonly lane: 'direct' | 'job';
  readonly filename: string | null;
  readonly options: ResolvedOptions;
  readonly limits: FileLimits;
}

/**
 * The most that the work can cost, in micro-dollars: the largest file that its limits let through, at
 * the dearest price. It is reserved while the work runs. Spec: Monthly spend cap.
 */
export function largestCost(work: PlannedWork, book: PriceBook = PRICE_BOOK): number {
  return Math.max(0, ...possibleKinds(work).map((kind) => largestCostOf(book, work, kind)));
}

/** The kind that the file's name stands for, else every one that would not be refused; the content decides later. */
function possibleKinds({ lane, operation, filename, options }: PlannedWork): readonly Kind[] {
  const { to } = options.convert;
  const accepted = OPERATION_KINDS[operation].filter(
    (kind) =>
      (lane === 'job' || DIRECT_KINDS.includes(kind)) &&
      (operation !== 'convert' || to === null || CONVERT_TARGETS[kind].includes(to)),
  );
  const format = formatOfName(filename);
  const named = accepted.filter((kind) => format !== null && FORMATS[format].kind === kind);
  return named.length > 0 ? named : accepted;
}

function largestCostOf(book: PriceBook, work: PlannedWork, kind: Kind): number {
  const { operation, limits } = work;
  const { meter, quantity } = unitsOf(book, {
    operation,
    kind,
    pages: limits.maxPages,
    durationSeconds: limits.maxSeconds,
    width: largestPixels(work),
    height: 1,
    videoCodec: dearestCodec(book, work),
  });
  return priceOf(book, meter, quantity, 0);
}

/** `video.resolution` bounds the long side only: the picture may be square. Convert keeps the input's size. */
function largestPixels({ operation, options, limits }: PlannedWork): number {
  const { resolution } = options.video;
  return operation === 'compress' && resolution !== null
    ? Math.min(resolution ** 2, limits.maxPixels)
    : limits.maxPixels;
}

/** Convert may copy a stream of any codec. */
function dearestCodec(book: PriceBook, { operation, options }: PlannedWork): string {
  if (operation === 'compress') return options.video.codec;
  return Object.entries(book.videoCodecFactor).reduce((dearest, codec) => (codec[1] > dearest[1] ? codec : dearest))[0];
}
