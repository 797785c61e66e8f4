/** US dollars as the interface shows them. Whole micro-dollars have six decimals at most, so no sum is rounded before. */
export function usdOf(microUsd: number): number {
  return microUsd / 1_000_000;
}
