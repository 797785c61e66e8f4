import type { Time } from '#crds/kube/time.ts';
import type { Log } from '#crds/process/log.ts';
import type { StandbyPlan } from '#controller/plan-standbys.ts';
import type { StandbyKind } from '#controller/worker-pod.ts';

interface PlanDeps {
  readonly time: Pick<Time, 'now' | 'wait'>;
  readonly log: Log;
  readonly plan: () => StandbyPlan;
  readonly create: (kind: StandbyKind) => Promise<void>;
  readonly remove: (name: string) => Promise<void>;
  /** Receives the function that ends the wait early. */
  readonly onWaiting: (wake: () => void) => void;
}

/** Maximum time between two plans, in milliseconds. */
const PLAN_MS = 10_000;
/** Minimum time before a plan that is due, in milliseconds. */
const MIN_PLAN_MS = 100;

/** Creates and deletes standbys by one plan after the other, until the signal aborts. */
export async function applyStandbyPlans(deps: PlanDeps, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const woken = new AbortController();
    deps.onWaiting(() => woken.abort());
    const nextAt = await applyPlan(deps).catch((error: unknown) => {
      deps.log.error({ err: error }, 'standbys not created or deleted');
      return null;
    });
    const due = nextAt === null ? PLAN_MS : nextAt.getTime() - deps.time.now().getTime();
    const waited = AbortSignal.any([signal, woken.signal]);
    await deps.time.wait(Math.min(PLAN_MS, Math.max(MIN_PLAN_MS, due)), waited);
  }
}

/** Creates and deletes standbys. Returns the time at which more are due; null: not before a change. */
async function applyPlan({ plan, create, remove, log }: PlanDeps): Promise<Date | null> {
  const planned = plan();
  for (const { name, state } of planned.remove) {
    await remove(name);
    log.info({ standby: name, state }, 'standby deleted');
  }
  for (const kind of planned.create) await create(kind);
  return planned.nextAt;
}
