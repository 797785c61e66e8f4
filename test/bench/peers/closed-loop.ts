/** Callers that send the next request as soon as the last is answered. */
export interface LoopFigures {
  readonly perSecond: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
}

interface Loop {
  readonly callers: number;
  /** It goes on for so long, and until each caller has been answered twice. */
  readonly seconds: number;
  readonly send: () => Promise<unknown>;
}

const LEAST_EACH = 2;

export async function closedLoop({ callers, seconds, send }: Loop): Promise<LoopFigures> {
  const times: number[] = [];
  const startedAt = performance.now();
  const endsAt = startedAt + seconds * 1000;
  const caller = async (): Promise<void> => {
    for (let sent = 0; sent < LEAST_EACH || performance.now() < endsAt; sent += 1) {
      const sentAt = performance.now();
      await send();
      times.push(performance.now() - sentAt);
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  const elapsed = (performance.now() - startedAt) / 1000;
  const sorted = times.toSorted((one, other) => one - other);
  const at = (part: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;
  return { perSecond: times.length / elapsed, p50: at(0.5), p99: at(0.99) };
}
