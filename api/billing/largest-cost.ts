import { KINDS, type Kind } from '#crds/catalogue/formats.ts';
import type { UnnamedWorkOrder } from '#crds/contract/work-order.ts';
import { acceptsKind, type Lane } from '#crds/contract/work-rules.ts';
import { PRICE_BOOK, priceOf, unitsOf } from '#crds/catalogue/prices.ts';

interface PlannedWork extends UnnamedWorkOrder {
  readonly lane: Lane;
  /** Kinds that the content may have: the file's name is no proof. */
  readonly kinds: readonly Kind[];
}

/**
 * Returns the maximum cost of the work, in micro-dollars: the largest file that its limits allow, at the highest price.
 * It is reserved while the work runs. See docs/reference/estimate-and-usage.md#monthly-spend-cap.
 */
export function largestCost(work: PlannedWork): number {
  return Math.max(0, ...billableKinds(work).map((kind) => largestCostOf(work, kind)));
}

/** Returns the possible kinds that the operation and the lane accept; all kinds that they accept when none is possible. */
function billableKinds(work: PlannedWork): readonly Kind[] {
  const accepted = (kinds: readonly Kind[]): readonly Kind[] =>
    kinds.filter((kind) => acceptsKind(work, kind, work.lane));
  const possible = accepted(work.kinds);
  return possible.length > 0 ? possible : accepted(KINDS);
}

function largestCostOf(work: PlannedWork, kind: Kind): number {
  const { operation, limits } = work;
  const { meter, quantity } = unitsOf(PRICE_BOOK, {
    operation,
    kind,
    pages: limits.maxPages,
    durationSeconds: limits.maxSeconds,
    width: largestPixels(work),
    height: 1,
    videoCodec: costliestCodec(work),
  });
  return priceOf(PRICE_BOOK, meter, quantity, 0);
}

/** Returns the maximum area in pixels. `video.resolution` limits the long side only, so the frame may be square. */
function largestPixels({ operation, options, limits }: PlannedWork): number {
  const { resolution } = options.video;
  return operation === 'compress' && resolution !== null
    ? Math.min(resolution ** 2, limits.maxPixels)
    : limits.maxPixels;
}

/** Returns the codec with the highest price. Convert may copy a stream of any codec. */
function costliestCodec({ operation, options }: PlannedWork): string {
  if (operation === 'compress') return options.video.codec;
  return Object.entries(PRICE_BOOK.videoCodecFactor).reduce((highest, codec) =>
    codec[1] > highest[1] ? codec : highest,
  )[0];
}
