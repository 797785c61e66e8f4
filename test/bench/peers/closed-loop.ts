/** Callers that send the next request as soon as the last is answered. */
export interface LoopFigures {
  readonly perSecond: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
}

interface Loop {
  readonly callers: number;
  /** It is measured for so long, and until as many requests as there are callers are answered. */
  readonly seconds: number;
  readonly send: () => Promise<unknown>;
}

/**
 * Measures from the first response of the last caller on: callers that begin together all send their bodies at once, while
 * nothing else runs. Every caller goes on until the end, so that the load is the same all the time.
 */
export async function closedLoop({ callers, seconds, send }: Loop): Promise<LoopFigures> {
  const times: number[] = [];
  let waiting = callers;
  let [startedAt, endedAt] = [Infinity, 0];
  const isOver = (): boolean => endedAt > 0;
  const onResponse = (sentAt: number, isFirst: boolean): void => {
    const now = performance.now();
    if (waiting === 0 && !isOver()) times.push(now - sentAt);
    if (isFirst) waiting -= 1;
    if (isFirst && waiting === 0) startedAt = now;
    if (times.length >= callers && now >= startedAt + seconds * 1000 && !isOver()) endedAt = now;
  };
  const caller = async (): Promise<void> => {
    for (let isFirst = true; !isOver(); isFirst = false) {
      const sentAt = performance.now();
      await send();
      onResponse(sentAt, isFirst);
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  const elapsed = (endedAt - startedAt) / 1000;
  const sorted = times.toSorted((one, other) => one - other);
  const at = (part: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;
  return { perSecond: times.length / elapsed, p50: at(0.5), p99: at(0.99) };
}
