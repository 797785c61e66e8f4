/** Reproducible random numbers. */
export interface SeededRandom {
  /** 0 ≤ n < limit, whole. */
  below(limit: number): number;
  pick<T>(from: readonly T[]): T;
  shuffled<T>(items: readonly T[]): T[];
}

/** Returns a generator (mulberry32) whose seed is a hash of the text. */
export function seededRandom(seed: string): SeededRandom {
  let state = Buffer.from(seed).reduce((hash, byte) => Math.imul(hash ^ byte, 0x01000193), 0x811c9dc5);
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number): number => Math.floor(next() * limit);
  return {
    below,
    pick: (from) => from[below(from.length)]!,
    shuffled: (items) =>
      items
        .map((item) => ({ item, at: next() }))
        .toSorted((a, b) => a.at - b.at)
        .map(({ item }) => item),
  };
}
