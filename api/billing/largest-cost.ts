import { CONVERT_TARGETS, OPERATION_KINDS, type Kind, type Operation } from '#crds/formats.ts';
import type { ResolvedOptions } from '#crds/options/options.ts';
import type { FileLimits } from '#crds/plans.ts';
import { PRICE_BOOK, priceOf, unitsOf, type PriceBook } from '#crds/prices.ts';

interface PlannedWork {
  readonly operation: Operation;
  /** As its file name says; null: it may be any. */
  readonly kind: Kind | null;
  readonly options: ResolvedOptions;
  readonly limits: FileLimits;
}

/**
 * The most that the work can cost, in micro-dollars: the largest file that its limits let through, at
 * the dearest price. It is reserved while the job runs. Spec: Monthly spend cap.
 */
export function largestCost(work: PlannedWork, book: PriceBook = PRICE_BOOK): number {
  const kinds = work.kind === null ? possibleKinds(work) : [work.kind];
  return Math.max(0, ...kinds.map((kind) => largestCostOf(book, work, kind)));
}

function possibleKinds({ operation, options }: PlannedWork): readonly Kind[] {
  const { to } = options.convert;
  const kinds = OPERATION_KINDS[operation];
  return operation === 'convert' && to !== null ? kinds.filter((kind) => CONVERT_TARGETS[kind].includes(to)) : kinds;
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
