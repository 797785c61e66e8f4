/** Returns the savings in percent, with one decimal; negative when the output is larger. */
export function savingsPercent(originalSize: number, outputSize: number): number {
  if (originalSize === 0) return 0;
  return Math.round((1 - outputSize / originalSize) * 1000) / 10 + 0;
}
