/** The clock of a service, ahead of the machine's by what a test lets pass: `MEDIAJOBS_CLOCK_FILE`. */
import { renameSync, writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

export interface MovedClock {
  readonly file: string;
  now(): Date;
  /** Advances the clock by whole seconds. Resolves when every process has read it. */
  pass(seconds: number): Promise<void>;
  /** Advances the clock in small steps, so that no renewed heartbeat or lease expires. */
  passGently(seconds: number): Promise<void>;
}

/** Longer than a process keeps what it read of the clock. */
const SEEN_MS = 60;
/** Less than the time after which a silent worker counts as lost; each is followed by more than one heartbeat. */
const STEP_SECONDS = 20;
const STEP_REST_MS = 1200;

export function makeMovedClock(file: string, first = 0): MovedClock {
  let ahead = first;
  const write = (): void => {
    writeFileSync(`${file}.new`, String(ahead));
    renameSync(`${file}.new`, file);
  };
  write();
  const pass = async (seconds: number): Promise<void> => {
    ahead += Math.ceil(seconds);
    write();
    await delay(SEEN_MS);
  };
  return {
    file,
    now: () => new Date(Date.now() + ahead * 1000),
    pass,
    passGently: async (seconds) => {
      for (let left = Math.ceil(seconds); left > 0; left -= STEP_SECONDS) {
        await pass(Math.min(left, STEP_SECONDS));
        await delay(STEP_REST_MS);
      }
    },
  };
}
