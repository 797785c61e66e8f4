import type { EngineResult } from '#crds/result.ts';
import type { Operation } from '#crds/formats.ts';
import { unitsOf, type Meter, type PriceBook } from '#crds/prices.ts';

export interface Units {
  readonly meter: Meter | 'unbilled';
  readonly quantity: number;
}

interface PricedWork {
  readonly livemode: boolean;
  readonly operation: Operation;
  /** null: it failed or was canceled. */
  readonly result: EngineResult | null;
}

/** Only live work that succeeded and did not give the input back costs money. Spec: Usage / meters. */
export function isBilled({ livemode, result }: Pick<PricedWork, 'livemode' | 'result'>): boolean {
  return livemode && result !== null && !result.kept_original;
}

/** What the work counts as: units on its meter, or nothing on `unbilled`. */
export function unitsOfWork(book: PriceBook, work: PricedWork): Units {
  const { operation, result } = work;
  if (result === null || !isBilled(work)) return { meter: 'unbilled', quantity: 0 };
  return unitsOf(book, {
    operation,
    kind: result.kind,
    pages: result.pages,
    durationSeconds: result.duration_seconds,
    width: result.width,
    height: result.height,
    videoCodec: result.video_codec,
  });
}
