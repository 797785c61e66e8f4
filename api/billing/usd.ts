/** US dollars as the interface shows them. Whole micro-dollars have six decimals at most, so no sum is rounded before. */
export function usdOf(microUsd: number): number {
  return microUsd / 1_000_000;
}

/** Most dollars that a person may type. */
export const MOST_USD = 1_000_000_000;

/** Micro-dollars of a typed amount of dollars with at most six decimals; null when it is none. */
export function microUsdOf(text: string): number | null {
  const usd = /^\d{1,10}(\.\d{1,6})?$/.test(text) ? Number(text) : Number.NaN;
  return usd <= MOST_USD ? Math.round(usd * 1_000_000) : null;
}
