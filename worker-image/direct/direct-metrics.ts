import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { Kind, Operation } from '#crds/catalogue/formats.ts';
import type { ErrorCode } from '#crds/contract/error-codes.ts';
import type { ChildPool } from '#worker-image/sandbox/child-pool.ts';

export interface DirectMetrics {
  readonly registry: Registry;
  /** Counts one processed request, with its time from the last byte of the input to the result, in seconds. */
  worked(work: { operation: Operation; kind: Kind | 'unknown'; outcome: 'done' | ErrorCode; seconds: number }): void;
  /** Counts one request that admission control shed before its body was read. */
  shed(): void;
}

/** Returns the metrics. Labels are closed sets: operations, kinds, error codes, tools and their installed versions. */
export function makeDirectMetrics(
  pool: Pick<ChildPool, 'busy' | 'waiting'>,
  versions: Readonly<Record<string, string>>,
): DirectMetrics {
  const registry = new Registry();
  const registers = [registry];
  const tools = new Gauge({
    name: 'mediajobs_engine_tool_info',
    help: 'Tools and libraries that open files, by tool and version. Always 1.',
    labelNames: ['tool', 'version'],
    registers,
  });
  for (const [tool, version] of Object.entries(versions)) tools.set({ tool, version }, 1);
  new Gauge({
    name: 'mediajobs_engine_busy_children',
    help: 'Engine processes with a file.',
    registers,
    collect() {
      this.set(pool.busy());
    },
  });
  new Gauge({
    name: 'mediajobs_engine_waiting_files',
    help: 'Files in the queue for an engine process.',
    registers,
    collect() {
      this.set(pool.waiting());
    },
  });
  const seconds = new Histogram({
    name: 'mediajobs_engine_work_seconds',
    help: 'Time from the last byte of the input to the result in seconds, by operation, kind and outcome.',
    labelNames: ['operation', 'kind', 'outcome'],
    buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120],
    registers,
  });
  const shedRequests = new Counter({
    name: 'mediajobs_engine_shed_total',
    help: 'Requests refused with engine_busy before their body was read.',
    registers,
  });
  return {
    registry,
    worked: ({ operation, kind, outcome, seconds: took }) => seconds.observe({ operation, kind, outcome }, took),
    shed: () => shedRequests.inc(),
  };
}
