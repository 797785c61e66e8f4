import type { Time } from '#crds/kube/time.ts';
import { jobIdOfName } from '#crds/contract/names.ts';
import type { Clock } from '#crds/process/clock.ts';
import type { Log } from '#crds/process/log.ts';
import { countSilent, NEVER_SUSPENDED, nextSilenceRule, type SilenceRule } from '#controller/collective-silence.ts';
import { silentSince } from '#controller/heartbeat-records.ts';
import type { Heartbeats } from '#controller/worker-port-server.ts';
import type { ControllerMetrics } from '#controller/metrics.ts';
import type { Run, Runs } from '#controller/runs.ts';
import type { Timing } from '#controller/timing.ts';

interface WatchSilenceDeps {
  readonly runs: Pick<Runs, 'list'>;
  readonly heartbeats: Pick<Heartbeats, 'last' | 'since'>;
  readonly clock: Clock;
  readonly time: Pick<Time, 'wait'>;
  readonly log: Log;
  readonly metrics: Pick<ControllerMetrics, 'silence'>;
  readonly timing: Timing;
}

/** Counts silent attempts in an interval until the signal aborts. Returns the rule that follows from the last count. */
export function watchSilence(
  deps: WatchSilenceDeps,
  signal: AbortSignal,
): { rule: () => SilenceRule; ended: Promise<void> } {
  let rule = NEVER_SUSPENDED;
  const count = async (): Promise<void> => {
    const now = deps.clock.now();
    const silentSince = (await deps.runs.list()).flatMap((run) => silenceOf(deps, run));
    const { silent, running } = countSilent(deps.timing, { now, silentSince });
    const next = nextSilenceRule(rule, { silent, running }, now);
    deps.metrics.silence({ silent, isSuspended: next.isSuspended });
    if (next.isSuspended && !rule.isSuspended)
      deps.log.error({ silent, running }, 'most attempts are silent; heartbeat timeouts are suspended');
    if (!next.isSuspended && rule.isSuspended)
      deps.log.info({ silent }, 'heartbeats received again; heartbeat timeouts resumed');
    rule = next;
  };
  const run = async (): Promise<void> => {
    while (!signal.aborted) {
      await count().catch((error: unknown) => deps.log.error({ err: error }, 'silence not counted'));
      await deps.time.wait(deps.timing.silenceCheckMs, signal);
    }
  };
  return { rule: () => rule, ended: run() };
}

/** Returns the time since which an active attempt on a reporting node is silent; none for any other run. */
function silenceOf({ heartbeats }: Pick<WatchSilenceDeps, 'heartbeats'>, { status, owner, attempt }: Run): Date[] {
  if (status.state !== 'active' || !status.isOnReadyNode) return [];
  const heartbeat = heartbeats.last(jobIdOfName(owner.name), attempt);
  return [silentSince(status, { heartbeat, listeningSince: heartbeats.since })];
}
