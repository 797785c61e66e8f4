/** Price book: meters, unit prices and the units of one result. Amounts are whole micro-dollars. */
import type { Kind, Operation } from '#crds/catalogue/formats.ts';

export const METERS = ['images', 'pdfs', 'documents', 'audio_minutes', 'video_units', 'files'] as const;
export type Meter = (typeof METERS)[number];

export interface PriceBook {
  readonly version: string;
  /** Price tiers by the number of images billed in the month: `upTo` images at `microUsd` each. */
  readonly images: readonly { readonly upTo: number; readonly microUsd: number }[];
  readonly flat: Readonly<Record<Exclude<Meter, 'images'>, number>>;
  readonly videoUnitsPerMinute: readonly { readonly pixels: number; readonly units: number }[];
  readonly videoCodecFactor: Readonly<Record<string, number>>;
}

export const PRICE_BOOK: PriceBook = {
  version: '2026-10-01',
  images: [
    { upTo: 10_000, microUsd: 2000 },
    { upTo: 100_000, microUsd: 1000 },
    { upTo: Number.POSITIVE_INFINITY, microUsd: 500 },
  ],
  flat: { pdfs: 10_000, documents: 10_000, audio_minutes: 2000, video_units: 1000, files: 1000 },
  videoUnitsPerMinute: [
    { pixels: 854 * 480, units: 3 },
    { pixels: 1280 * 720, units: 7 },
    { pixels: 1920 * 1080, units: 14 },
    { pixels: Number.POSITIVE_INFINITY, units: 56 },
  ],
  videoCodecFactor: { h264: 1, h265: 1.5, vp9: 2 },
};

export interface MeasuredWork {
  readonly operation: Operation;
  readonly kind: Kind;
  readonly pages: number | null;
  readonly durationSeconds: number | null;
  /** Width of the output video, in pixels; so is the height. */
  readonly width: number | null;
  readonly height: number | null;
  readonly videoCodec: string | null;
}

/** Returns meter and units of successful work: docs/reference/limits-and-prices.md#prices. */
export function unitsOf(book: PriceBook, work: MeasuredWork): { meter: Meter; quantity: number } {
  if (work.operation === 'strip_metadata' || work.kind === 'image') return { meter: 'images', quantity: 1 };
  switch (work.kind) {
    case 'pdf':
      if (work.operation === 'convert') return { meter: 'images', quantity: 1 };
      return { meter: 'pdfs', quantity: Math.max(1, Math.ceil((work.pages ?? 1) / 100)) };
    case 'audio':
      return { meter: 'audio_minutes', quantity: startedMinutes(work.durationSeconds) };
    case 'video':
      return { meter: 'video_units', quantity: videoUnits(book, work) };
    case 'word':
    case 'sheet':
    case 'presentation':
      return { meter: 'documents', quantity: 1 };
    case 'table':
    case 'font':
      return { meter: 'files', quantity: 1 };
  }
}

/** Returns the price of `quantity` units in micro-dollars, after `imagesThisMonth` images already billed. */
export function priceOf(book: PriceBook, meter: Meter, quantity: number, imagesThisMonth: number): number {
  if (meter !== 'images') return Math.round(book.flat[meter] * quantity);
  let amount = 0;
  let billed = imagesThisMonth;
  let remaining = quantity;
  for (const tier of book.images) {
    const inTier = Math.min(remaining, Math.max(0, tier.upTo - billed));
    amount += inTier * tier.microUsd;
    billed += inTier;
    remaining -= inTier;
  }
  return amount;
}

function startedMinutes(seconds: number | null): number {
  return Math.max(1, Math.ceil((seconds ?? 0) / 60));
}

function videoUnits(book: PriceBook, work: MeasuredWork): number {
  const pixels = (work.width ?? 1920) * (work.height ?? 1080);
  const tier = book.videoUnitsPerMinute.find((row) => pixels <= row.pixels);
  return (
    startedMinutes(work.durationSeconds) * (tier?.units ?? 0) * (book.videoCodecFactor[work.videoCodec ?? 'h265'] ?? 1)
  );
}
