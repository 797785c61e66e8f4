/** Converts micro-dollars to US dollars. Sums are made in whole micro-dollars, so that none is rounded. */
export function usdOf(microUsd: number): number {
  return microUsd / 1_000_000;
}

/** Maximum amount that a person may enter, in US dollars. */
export const MAX_USD = 1_000_000_000;

/** Parses an amount of dollars with at most six decimals to micro-dollars; returns null for any other text. */
export function microUsdOf(text: string): number | null {
  const usd = /^\d{1,10}(\.\d{1,6})?$/.test(text) ? Number(text) : Number.NaN;
  return usd <= MAX_USD ? Math.round(usd * 1_000_000) : null;
}
