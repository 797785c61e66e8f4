import { Counter, Gauge, type Registry } from 'prom-client';
import type { ReflectorMetrics } from '#crds/kube/reflector.ts';
import { RESTART_REASONS } from '#crds/kube/watch-errors.ts';

export interface KubeMetrics extends ReflectorMetrics {
  /** Counts a request. Status 0: no response. */
  requested(method: string, status: number): void;
  /** Counts a read of a resource while its watch is behind this process's own writes. */
  staleRead(resource: string): void;
  observeLeader(isLeading: () => boolean): void;
}

/** Registers the metrics of requests to the API server, lists, watches and leadership. */
export function makeKubeMetrics(registry: Registry): KubeMetrics {
  const registers = [registry];
  const lists = new Counter({
    name: 'mediajobs_reflector_lists_total',
    help: 'Lists from the API server, by resource.',
    labelNames: ['resource'] as const,
    registers,
  });
  const restarts = new Counter({
    name: 'mediajobs_reflector_watch_restarts_total',
    help: 'Restarted watches, by resource and reason.',
    labelNames: ['resource', 'reason'] as const,
    registers,
  });
  const requests = new Counter({
    name: 'mediajobs_kube_requests_total',
    help: 'Requests to the API server, by method and status. Status 0: no response.',
    labelNames: ['method', 'status'] as const,
    registers,
  });
  const stale = new Counter({
    name: 'mediajobs_kube_stale_reads_total',
    help: 'Reads of an object whose watch was behind an own write of this process, by resource.',
    labelNames: ['resource'] as const,
    registers,
  });
  const ages = new Map<string, () => number>();
  new Gauge({
    name: 'mediajobs_reflector_silent_seconds',
    help: 'Time since the last event, bookmark or list of the API server in seconds, by resource.',
    labelNames: ['resource'] as const,
    registers,
    collect() {
      for (const [resource, ageMs] of ages) this.set({ resource }, ageMs() / 1000);
    },
  });
  return {
    requested: (method, status) => requests.inc({ method, status: String(status) }),
    listed: (resource) => lists.inc({ resource }),
    watchRestarted: (resource, reason) => restarts.inc({ resource, reason }),
    staleRead: (resource) => stale.inc({ resource }),
    observeAge(resource, ageMs) {
      ages.set(resource, ageMs);
      stale.inc({ resource }, 0);
      lists.inc({ resource }, 0);
      for (const reason of RESTART_REASONS) restarts.inc({ resource, reason }, 0);
    },
    observeLeader(isLeading) {
      new Gauge({
        name: 'mediajobs_leader',
        help: '1 while this process is the leader, otherwise 0.',
        registers,
        collect() {
          this.set(isLeading() ? 1 : 0);
        },
      });
    },
  };
}
