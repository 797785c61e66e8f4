/** Finds out how a CSV file separates its cells. Pure. */

// The comma comes last, as it wins no tie: it stands in numbers and sentences too.
const CANDIDATES = [';', '\t', '|', ','] as const;
type Delimiter = (typeof CANDIDATES)[number];

/** Rows looked at. */
const SAMPLE_ROWS = 200;

/** Rows out of all that have a candidate before it is believed when their counts differ. */
const MOST_ROWS = 0.8;

/** A comma that is not part of a number. */
const OTHER_COMMA = /(?<!\d),|,(?!\d)/;

/**
 * The candidate that occurs equally often in most rows, outside of quotes, and of equals the most frequent
 * one; null for a table of one column. A comma is believed wherever it stands, the others are not: one bar
 * in a cell splits nothing. Commas that may all be decimal ones lose against any equal.
 */
export function voteDelimiter(sample: string): Delimiter | null {
  const rows = rowsOf(sample);
  const isDecimal = !rows.some((row) => OTHER_COMMA.test(row));
  let [best, bestShare, bestCount]: [Delimiter | null, number, number] = [null, 0, 0];
  for (const candidate of CANDIDATES) {
    const { share, count, found } = agreement(rows.map((row) => row.split(candidate).length - 1));
    if (candidate !== ',' && share <= 0.5 && found < MOST_ROWS) continue;
    const winsTie = count > bestCount && !(candidate === ',' && isDecimal);
    if (share > bestShare || (share === bestShare && winsTie)) [best, bestShare, bestCount] = [candidate, share, count];
  }
  return best;
}

/** Rows without what they quote. A last row without its end may be cut off and counts only when it is alone. */
function rowsOf(sample: string): string[] {
  const rows = sample.replaceAll(/"[^"]*"?/g, '').split(/\r\n|\n|\r/);
  if (rows.length > 1) rows.pop();
  return rows.filter((row) => row !== '').slice(0, SAMPLE_ROWS);
}

/** The most frequent count above zero, the share of rows that have it, and of those that have any. */
function agreement(counts: readonly number[]): { share: number; count: number; found: number } {
  const votes = new Map<number, number>();
  for (const count of counts) if (count > 0) votes.set(count, (votes.get(count) ?? 0) + 1);
  const [count, rows] = [...votes].reduce((top, entry) => (entry[1] > top[1] ? entry : top), [0, 0] as const);
  const all = Math.max(1, counts.length);
  return { share: rows / all, count, found: counts.filter((each) => each > 0).length / all };
}
