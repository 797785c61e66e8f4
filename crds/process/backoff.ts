/**
 * Returns the delay after a failure, in milliseconds: `firstMs` after the first one, twice as long after each further
 * one, `maxMs` at most. `failures`: number of earlier failures without a success between, 0 for the first.
 */
export function backoffMs({ firstMs, maxMs }: { firstMs: number; maxMs: number }, failures: number): number {
  return Math.min(maxMs, firstMs * 2 ** failures);
}
