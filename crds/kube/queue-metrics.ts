import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

export interface QueueMetrics {
  added(): void;
  retried(): void;
  /** Records how long a key waited, in seconds. */
  waited(seconds: number): void;
  /** Records how long a key was processed, in seconds. */
  worked(seconds: number): void;
  observeDepth(depth: () => number): void;
}

const SECONDS = [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10, 60];

/** Registers the metrics of a work queue: `mediajobs_<of>_queue_…`. */
export function makeQueueMetrics(registry: Registry, of: string): QueueMetrics {
  const name = (end: string): string => `mediajobs_${of}_queue_${end}`;
  const registers = [registry];
  const adds = new Counter({ name: name('adds_total'), help: 'Enqueued keys.', registers });
  const retries = new Counter({ name: name('retries_total'), help: 'Failed attempts to handle a key.', registers });
  const waits = new Histogram({
    name: name('wait_seconds'),
    help: 'Waiting time of keys, in seconds.',
    buckets: SECONDS,
    registers,
  });
  const works = new Histogram({
    name: name('work_seconds'),
    help: 'Handling time of keys, in seconds.',
    buckets: SECONDS,
    registers,
  });
  return {
    added: () => adds.inc(),
    retried: () => retries.inc(),
    waited: (seconds) => waits.observe(seconds),
    worked: (seconds) => works.observe(seconds),
    observeDepth(depth) {
      new Gauge({
        name: name('depth'),
        help: 'Waiting keys.',
        registers,
        collect() {
          this.set(depth());
        },
      });
    },
  };
}
