import { Counter, Gauge, type Registry } from 'prom-client';
import { makeQueueMetrics, type QueueMetrics } from '#crds/kube/queue-metrics.ts';
import type { Standby } from '#controller/plan-standbys.ts';
import { LOST_CAUSES, type LostCause } from '#controller/runs.ts';
import { BINDING_RESULTS, type BindingResult } from '#controller/standby-binding.ts';

/** Results of a reconciliation: a closed set, because they are values of a metric label. */
export const RECONCILE_RESULTS = [
  'released',
  'unchanged',
  'recorded',
  'started',
  'no_capacity',
  'attempt_lost',
  'succeeded',
  'failed',
  'conflict',
  'error',
] as const;
export type ReconcileResult = (typeof RECONCILE_RESULTS)[number];

export interface ControllerMetrics {
  reconciled(result: ReconcileResult): void;
  attemptLost(cause: LostCause): void;
  /** Sets the functions that are called when the metrics are read. */
  observe(sources: { activeRuns: () => Promise<number>; notStarting: () => Promise<number> }): void;
  /** Records the number of silent attempts, and whether they are not lost because most of them are silent. */
  silence(state: { silent: number; isSuspended: boolean }): void;
  /** Counts an attempt that could have run in a standby. */
  countBinding(result: BindingResult): void;
  /** Sets the function that returns the standbys when the metrics are read. */
  observeStandbys(list: () => readonly Pick<Standby, 'kind' | 'state'>[]): void;
  readonly queue: QueueMetrics;
}

/** Registers and returns the controller's metrics. Every label value starts with 0. */
export function makeControllerMetrics(registry: Registry): ControllerMetrics {
  const registers = [registry];
  const reconciles = new Counter({
    name: 'mediajobs_controller_reconciles_total',
    help: 'Reconciliations, by result.',
    labelNames: ['result'] as const,
    registers,
  });
  const lost = new Counter({
    name: 'mediajobs_controller_attempts_lost_total',
    help: 'Lost attempts, by cause.',
    labelNames: ['cause'] as const,
    registers,
  });
  const silent = new Gauge({
    name: 'mediajobs_controller_silent_attempts',
    help: 'Running attempts without a heartbeat for half of the timeout.',
    registers,
  });
  const suspended = new Gauge({
    name: 'mediajobs_controller_silence_rule_suspended',
    help: '1 while most running attempts are silent together, so that silence alone loses none; else 0.',
    registers,
  });
  const bindings = new Counter({
    name: 'mediajobs_controller_standby_bindings_total',
    help: 'First attempts of small jobs whose kind has standbys, by result: bound to one, none was ready, failed.',
    labelNames: ['result'] as const,
    registers,
  });
  for (const result of BINDING_RESULTS) bindings.inc({ result }, 0);
  for (const result of RECONCILE_RESULTS) reconciles.inc({ result }, 0);
  for (const cause of LOST_CAUSES) lost.inc({ cause }, 0);
  return {
    reconciled: (result) => reconciles.inc({ result }),
    attemptLost: (cause) => lost.inc({ cause }),
    silence(state) {
      silent.set(state.silent);
      suspended.set(state.isSuspended ? 1 : 0);
    },
    countBinding: (result) => bindings.inc({ result }),
    observeStandbys(list) {
      new Gauge({
        name: 'mediajobs_controller_standbys',
        help: 'Standbys, by kind of file and state.',
        labelNames: ['kind', 'state'] as const,
        registers,
        collect() {
          this.reset();
          for (const { kind, state } of list()) this.inc({ kind, state });
        },
      });
    },
    queue: makeQueueMetrics(registry, 'controller'),
    observe({ activeRuns, notStarting }) {
      new Gauge({
        name: 'mediajobs_controller_runs_not_starting',
        help: 'Runs whose pod is refused, whose container does not start or whose image cannot be pulled.',
        registers,
        async collect() {
          this.set(await notStarting());
        },
      });
      new Gauge({
        name: 'mediajobs_controller_runs_active',
        help: 'Runs that are waiting or active.',
        registers,
        async collect() {
          this.set(await activeRuns());
        },
      });
    },
  };
}
