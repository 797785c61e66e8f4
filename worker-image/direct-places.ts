/**
 * Who is let in at the engine's door. Up to a number of requests may be in, at work, waiting or on their way: a burst
 * waits for its turn. When no place was left the demand is no burst any more:
 *
 *   calm ──nobody finds a place──▶ crowded ──nobody was turned away for some seconds, or a minute is over──▶ calm
 *
 * In a crowd a long line would make everybody wait as long as the line is, and do no more work. So only as many are let
 * in as keep the processes busy, and the others know it at once. How many that is shows as files come to their turn:
 * slowly more after files that found a process idle, one less after a file that waited for long.
 */
export interface DirectPlaces {
  /** null: turned away. */
  take(): DirectPlace | null;
}

/** Of one request, from its headers to the end of its answer. */
export interface DirectPlace {
  /** A process begins to work on the file, after so many milliseconds of waiting for it. */
  begins(waitedMs: number): void;
  /** The process has ended its work. */
  ends(): void;
  leave(): void;
}

interface PlacesOptions {
  /** Files at work at once. */
  readonly children: number;
  /** More requests that may be in. */
  readonly queue: number;
}

const CROWD_MS = 60_000;
const QUIET_MS = 5000;
/** Who would wait longer is turned away instead: the work itself has no more than two minutes. */
const LONGEST_WAIT_MS = 30_000;
/** Of the time of the work: a longer wait in a crowd is long, a shorter one none. */
const LONG_WAIT = 1 / 10;
const NO_WAIT = 1 / 50;
const GROWTH = 1 + 1 / 8;
/** How much the newest file counts in the mean time of the work. */
const WEIGHT = 1 / 8;

/** `nowMs`: of a clock that only goes forward. */
export function makeDirectPlaces({ nowMs }: { nowMs: () => number }, { children, queue }: PlacesOptions): DirectPlaces {
  let taken = 0;
  let crowdSince = -Infinity;
  let turnedAwayAt = -Infinity;
  let mostInCrowd = children;
  /** Mean, in milliseconds; null until a file was worked on. */
  let workMs: number | null = null;

  const isCrowded = (now: number): boolean => now - crowdSince < CROWD_MS && now - turnedAwayAt < QUIET_MS;
  const mostInCalm = (): number =>
    children + Math.min(queue, workMs === null ? queue : (children * LONGEST_WAIT_MS) / workMs);
  const turnAway = (now: number): null => {
    if (!isCrowded(now)) {
      crowdSince = now;
      mostInCrowd = children;
    }
    turnedAwayAt = now;
    return null;
  };
  const begins = (waitedMs: number): void => {
    if (workMs === null) return;
    if (waitedMs > workMs * LONG_WAIT) mostInCrowd = Math.max(children, mostInCrowd - 1);
    if (waitedMs < workMs * NO_WAIT) mostInCrowd = Math.min(children + queue, mostInCrowd * GROWTH);
  };
  const ended = (newestMs: number): void => {
    workMs = Math.max(1, workMs === null ? newestMs : workMs + (newestMs - workMs) * WEIGHT);
  };
  return {
    take: () => {
      const now = nowMs();
      const most = isCrowded(now) ? Math.min(mostInCalm(), Math.floor(mostInCrowd)) : mostInCalm();
      if (taken >= most) return turnAway(now);
      taken += 1;
      let begunAt = now;
      return {
        begins: (waitedMs) => {
          begunAt = nowMs();
          begins(waitedMs);
        },
        ends: () => ended(nowMs() - begunAt),
        leave: () => {
          taken -= 1;
        },
      };
    },
  };
}
