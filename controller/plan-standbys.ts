/** Which standbys are created and deleted, so that each kind has as many as the settings ask for. Pure. */
import type { StandbyKind } from '#controller/worker-pod.ts';

export interface StandbyTarget {
  readonly kind: StandbyKind;
  readonly count: number;
  /** Hash of the template that new standbys have. */
  readonly hash: string;
  /** Time before which none is created: a new one would slow down the job that has just been bound. */
  readonly refillAt: Date;
}

/**
 * `ready`: its request for a run is open. `binding`: it is being bound at this moment. `idle`: its run has ended, and it
 * may take the next one of the same account. `stray`: bound, but its run is elsewhere or does not exist.
 */
export type StandbyState = 'starting' | 'ready' | 'binding' | 'bound' | 'idle' | 'stray' | 'ended';

export interface Standby {
  readonly name: string;
  readonly kind: string;
  readonly hash: string;
  readonly state: StandbyState;
  readonly createdAt: Date;
}

export interface StandbyPlan {
  /** Kinds of new standbys, one item each. */
  readonly create: readonly StandbyKind[];
  readonly remove: readonly Standby[];
  /** Time of the next plan without an event; null: none is due. */
  readonly nextAt: Date | null;
}

/** Minimum interval between two standbys of a kind of which one has ended without a run, in milliseconds. */
const FIRST_BACKOFF_MS = 5000;
const LAST_BACKOFF_MS = 300_000;

export function planStandbys(targets: readonly StandbyTarget[], standbys: readonly Standby[], now: Date): StandbyPlan {
  const isCurrent = ({ kind, hash }: Standby): boolean =>
    targets.some((target) => target.kind === kind && target.hash === hash);
  const isUnused = (one: Standby): boolean => isWaiting(one) || one.state === 'ended';
  const outdated = standbys.filter((one) => one.state === 'stray' || (isUnused(one) && !isCurrent(one)));
  const plans = targets.map((target) =>
    planKind(
      target,
      standbys.filter((one) => one.kind === target.kind),
      now,
    ),
  );
  const times = plans.map(({ nextAt }) => nextAt).filter((time) => time !== null);
  return {
    create: plans.flatMap(({ create }) => create),
    remove: [...outdated, ...plans.flatMap(({ remove }) => remove)],
    nextAt: times.toSorted((a, b) => a.getTime() - b.getTime())[0] ?? null,
  };
}

function planKind({ kind, count, hash, refillAt }: StandbyTarget, own: readonly Standby[], now: Date): StandbyPlan {
  // Those that are ready are kept first.
  const waiting = own
    .filter((one) => isWaiting(one) && one.hash === hash)
    .toSorted((a, b) => Number(b.state === 'ready') - Number(a.state === 'ready'));
  const missing = count - waiting.length;
  if (missing <= 0) return { create: [], remove: waiting.slice(count), nextAt: null };
  const from = latest(refillAt, endOfBackoff(own.filter((one) => one.hash === hash)));
  if (now < from) return { create: [], remove: [], nextAt: from };
  return { create: Array.from({ length: missing }, () => kind), remove: [], nextAt: null };
}

/** Returns whether a standby waits for a run, or will. */
function isWaiting({ state }: Standby): boolean {
  return state === 'starting' || state === 'ready';
}

/** Returns the time before which none is created because others have ended without a run. */
function endOfBackoff(own: readonly Standby[]): Date {
  const ended = own.filter(({ state }) => state === 'ended').length;
  if (ended === 0) return new Date(0);
  const last = Math.max(...own.map(({ createdAt }) => createdAt.getTime()));
  return new Date(last + Math.min(LAST_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** (ended - 1)));
}

function latest(a: Date, b: Date): Date {
  return a > b ? a : b;
}
