import { readFileSync } from 'node:fs';
import type { Log } from '#crds/shared/log.ts';

/** The one source of time; passed in, so that a test can move it. */
export interface Clock {
  now(): Date;
}

export const systemClock: Clock = { now: () => new Date() };

/** The clock of a process by its setting `MEDIAJOBS_CLOCK_FILE`. */
export function clockOf({ log }: { log: Pick<Log, 'warn'> }, file: string | undefined): Clock {
  if (file === undefined) return systemClock;
  log.warn({ file }, 'MEDIAJOBS_CLOCK_FILE is set: the clock runs ahead, as only a test may want it');
  return clockAhead(file);
}

const READ_EVERY_MS = 20;

/**
 * The system's clock, ahead by the whole seconds that the file holds: so that tests of the running service wait for
 * days in seconds. The file is read again while time is asked for.
 */
function clockAhead(file: string): Clock {
  let ahead = 0;
  let readAt = Number.NEGATIVE_INFINITY;
  return {
    now: () => {
      const real = Date.now();
      if (Math.abs(real - readAt) >= READ_EVERY_MS) {
        ahead = secondsIn(file) * 1000;
        readAt = real;
      }
      return new Date(real + ahead);
    },
  };
}

function secondsIn(file: string): number {
  const text = readFileSync(file, 'utf8').trim();
  if (!/^\d{1,10}$/.test(text)) throw new Error(`${file} holds no whole number of seconds`);
  return Number(text);
}
