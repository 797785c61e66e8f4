/** Finds out how a CSV file separates its cells. Pure. */

const CANDIDATES = [',', ';', '\t', '|'] as const;
type Delimiter = (typeof CANDIDATES)[number];

/** Rows looked at. */
const SAMPLE_ROWS = 200;

/** Rows out of all that have a candidate before it is believed when their counts differ. */
const MOST_ROWS = 0.8;

/**
 * The candidate that occurs equally often in most rows, outside of quotes; null for a table of one column.
 * A comma is believed wherever it stands, the others are not: one bar in a cell splits nothing.
 */
export function voteDelimiter(sample: string): Delimiter | null {
  let [best, bestShare, bestCount]: [Delimiter | null, number, number] = [null, 0, 0];
  for (const candidate of CANDIDATES) {
    const { share, count, found } = agreement(countsPerRow(sample, candidate));
    if (candidate !== ',' && share <= 0.5 && found < MOST_ROWS) continue;
    if (share > bestShare || (share === bestShare && count > bestCount))
      [best, bestShare, bestCount] = [candidate, share, count];
  }
  return best;
}

/** How often the candidate stands in each row. A last row without its end may be cut off and counts only when it is alone. */
function countsPerRow(sample: string, candidate: string): number[] {
  const rows = sample.replaceAll(/"[^"]*"?/g, '').split(/\r\n|\n|\r/);
  if (rows.length > 1) rows.pop();
  return rows
    .filter((row) => row !== '')
    .slice(0, SAMPLE_ROWS)
    .map((row) => row.split(candidate).length - 1);
}

/** The most frequent count above zero, the share of rows that have it, and of those that have any. */
function agreement(counts: readonly number[]): { share: number; count: number; found: number } {
  const votes = new Map<number, number>();
  for (const count of counts) if (count > 0) votes.set(count, (votes.get(count) ?? 0) + 1);
  const [count, rows] = [...votes].reduce((top, entry) => (entry[1] > top[1] ? entry : top), [0, 0] as const);
  const all = Math.max(1, counts.length);
  return { share: rows / all, count, found: counts.filter((each) => each > 0).length / all };
}
