import { clockAhead, systemClock, type Clock } from '#crds/shared/clock.ts';
import type { Log } from '#crds/shared/log.ts';

/** The clock of a process by its setting `MEDIAJOBS_CLOCK_FILE`. */
export function clockOf({ log }: { log: Pick<Log, 'warn'> }, file: string | undefined): Clock {
  if (file === undefined) return systemClock;
  log.warn({ file }, 'MEDIAJOBS_CLOCK_FILE is set: the clock runs ahead, as only a test may want it');
  return clockAhead(file);
}
