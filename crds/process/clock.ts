import { readFileSync } from 'node:fs';
import type { Log } from '#crds/process/log.ts';

/** Source of the current time; tests pass one that they control. */
export interface Clock {
  now(): Date;
}

export const systemClock: Clock = { now: () => new Date() };

/** Returns the clock of a process by its setting `MEDIAJOBS_CLOCK_FILE`. */
export function clockOf({ log }: { log: Pick<Log, 'warn'> }, file: string | undefined): Clock {
  if (file === undefined) return systemClock;
  log.warn({ file }, 'MEDIAJOBS_CLOCK_FILE is set: the clock runs ahead, which is for tests only');
  return clockAhead(file);
}

/** Interval between reads of the clock file, in milliseconds. */
const READ_INTERVAL_MS = 20;

/**
 * Returns the system's clock plus the whole seconds in the file, so that tests of the running service skip days. The
 * file is read again by calls of `now`.
 */
function clockAhead(file: string): Clock {
  let ahead = 0;
  let readAt = Number.NEGATIVE_INFINITY;
  return {
    now: () => {
      const real = Date.now();
      if (Math.abs(real - readAt) >= READ_INTERVAL_MS) {
        ahead = secondsIn(file) * 1000;
        readAt = real;
      }
      return new Date(real + ahead);
    },
  };
}

function secondsIn(file: string): number {
  const text = readFileSync(file, 'utf8').trim();
  if (!/^\d{1,10}$/.test(text)) throw new Error(`${file} must contain a whole number of seconds`);
  return Number(text);
}
