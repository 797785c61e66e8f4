/** Finds out how a CSV file separates its cells. Pure. */

const CANDIDATES = [',', ';', '\t', '|'] as const;
type Delimiter = (typeof CANDIDATES)[number];

/** Rows looked at. */
const SAMPLE_ROWS = 200;

/** The candidate that occurs equally often in most rows, outside of quotes; a comma when none does. */
export function voteDelimiter(sample: string): Delimiter {
  let [best, bestShare, bestCount]: [Delimiter, number, number] = [',', 0, 0];
  for (const candidate of CANDIDATES) {
    const { share, count } = agreement(countsPerRow(sample, candidate));
    if (share > bestShare || (share === bestShare && count > bestCount)) [best, bestShare, bestCount] = [candidate, share, count];
  }
  return best;
}

/** How often the candidate stands in each row. The last row may be cut off and counts only when it is alone. */
function countsPerRow(sample: string, candidate: string): number[] {
  const counts: number[] = [];
  let [count, quoted, filled] = [0, false, false];
  for (const char of sample) {
    if (char === '"') quoted = !quoted;
    if (!quoted && char === candidate) count += 1;
    const ends = !quoted && (char === '\n' || char === '\r');
    if (ends && filled) counts.push(count);
    if (counts.length === SAMPLE_ROWS) break;
    if (ends) count = 0;
    filled = !ends;
  }
  return counts.length === 0 ? [count] : counts;
}

/** The most frequent count above zero, and the share of rows that have it. */
function agreement(counts: readonly number[]): { share: number; count: number } {
  const votes = new Map<number, number>();
  for (const count of counts) if (count > 0) votes.set(count, (votes.get(count) ?? 0) + 1);
  const [count, rows] = [...votes].reduce((top, entry) => (entry[1] > top[1] ? entry : top), [0, 0] as const);
  return { share: rows / counts.length, count };
}
