/** Finds out how a CSV file separates its cells. Pure. */

const CANDIDATES = [',', ';', '\t', '|'] as const;
type Delimiter = (typeof CANDIDATES)[number];

/** Rows looked at. */
const SAMPLE_ROWS = 200;

/** The candidate that occurs equally often in most rows, outside of quotes; null for a table of one column. */
export function voteDelimiter(sample: string): Delimiter | null {
  let [best, bestShare, bestCount]: [Delimiter | null, number, number] = [null, 0, 0];
  for (const candidate of CANDIDATES) {
    const { share, count } = agreement(countsPerRow(sample, candidate));
    if (share > bestShare || (share === bestShare && count > bestCount))
      [best, bestShare, bestCount] = [candidate, share, count];
  }
  return best;
}

/** How often the candidate stands in each row. The last row may be cut off and counts only when it is alone. */
function countsPerRow(sample: string, candidate: string): number[] {
  const rows = sample
    .replaceAll(/"[^"]*"?/g, '')
    .split(/\r\n|\n|\r/)
    .filter((row) => row !== '');
  const whole = rows.length > 1 ? rows.slice(0, Math.min(SAMPLE_ROWS, rows.length - 1)) : rows;
  return whole.map((row) => row.split(candidate).length - 1);
}

/** The most frequent count above zero, and the share of rows that have it. */
function agreement(counts: readonly number[]): { share: number; count: number } {
  const votes = new Map<number, number>();
  for (const count of counts) if (count > 0) votes.set(count, (votes.get(count) ?? 0) + 1);
  const [count, rows] = [...votes].reduce((top, entry) => (entry[1] > top[1] ? entry : top), [0, 0] as const);
  return { share: rows / Math.max(1, counts.length), count };
}
