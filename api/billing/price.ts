import type { EngineResult } from '#crds/contract/result.ts';
import type { Operation } from '#crds/catalogue/formats.ts';
import { unitsOf, type Meter, type PriceBook } from '#crds/catalogue/prices.ts';

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

/** Returns true for live work that succeeded and did not return its input unchanged; other work is free. */
export function isBilled({ livemode, result }: Pick<PricedWork, 'livemode' | 'result'>): boolean {
  return livemode && result !== null && !result.kept_original;
}

/** Returns meter and quantity of the work; 0 on `unbilled` when it is free. */
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
