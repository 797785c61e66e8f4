/** Detects the delimiter of a CSV file. Pure. */

// The comma is last because it wins no tie: numbers and sentences contain commas too.
const CANDIDATES = [';', '\t', '|', ','] as const;
type Delimiter = (typeof CANDIDATES)[number];

/** Maximum number of rows that are counted. */
const SAMPLE_ROWS = 200;

/** Minimum share of rows that contain a candidate whose counts differ. */
const MIN_SHARE_OF_ROWS = 0.8;

/** A comma that is not part of a number. */
const OTHER_COMMA = /(?<!\d),|,(?!\d)/;

/**
 * Returns the candidate that occurs equally often in most rows, outside of quotes; of several, the most frequent.
 * Returns null for a table of one column. Candidates other than the comma need more than half of the rows: one
 * vertical bar in a cell splits nothing. Commas that may all be decimal commas lose every tie. Where the header and most
 * rows contain a candidate, those that the header lacks split cells, however regular: rows may end before their last columns.
 */
export function detectDelimiter(sample: string): Delimiter | null {
  const rows = rowsOf(sample);
  const isDecimal = !rows.some((row) => OTHER_COMMA.test(row));
  let [best, bestShare, bestCount]: [Delimiter | null, number, number] = [null, 0, 0];
  for (const candidate of candidatesIn(rows)) {
    const { share, count, found } = agreement(rows.map((row) => row.split(candidate).length - 1));
    if (candidate !== ',' && share <= 0.5 && found < MIN_SHARE_OF_ROWS) continue;
    const winsTie = count > bestCount && !(candidate === ',' && isDecimal);
    if (share > bestShare || (share === bestShare && winsTie)) [best, bestShare, bestCount] = [candidate, share, count];
  }
  return best;
}

function candidatesIn(rows: readonly string[]): readonly Delimiter[] {
  const [header = ''] = rows;
  const inHeader = CANDIDATES.filter((candidate) => header.includes(candidate));
  const isCommon = (candidate: Delimiter): boolean => {
    const found = rows.filter((row) => (candidate === ',' ? OTHER_COMMA.test(row) : row.includes(candidate)));
    return found.length >= rows.length * MIN_SHARE_OF_ROWS;
  };
  return inHeader.some(isCommon) ? inHeader : CANDIDATES;
}

/** Returns the rows without quoted text. The last row may be truncated and counts only when it is the only one. */
function rowsOf(sample: string): string[] {
  const rows = sample.replaceAll(/"[^"]*"?/g, '').split(/\r\n|\n|\r/);
  if (rows.length > 1) rows.pop();
  return rows.filter((row) => row !== '').slice(0, SAMPLE_ROWS);
}

/** Returns the most frequent count above zero, the share of rows with that count, and the share with any. */
function agreement(counts: readonly number[]): { share: number; count: number; found: number } {
  const votes = new Map<number, number>();
  for (const count of counts) if (count > 0) votes.set(count, (votes.get(count) ?? 0) + 1);
  const [count, rows] = [...votes].reduce((top, entry) => (entry[1] > top[1] ? entry : top), [0, 0] as const);
  const all = Math.max(1, counts.length);
  return { share: rows / all, count, found: counts.filter((each) => each > 0).length / all };
}
