import { Histogram, type Registry } from 'prom-client';

export interface ApiMetrics {
  readonly requests: Histogram<'endpoint' | 'method' | 'status'>;
}

/** Labels are closed sets: endpoints' patterns, methods and statuses. */
export function makeApiMetrics(registry: Registry): ApiMetrics {
  const requests = new Histogram({
    name: 'mediajobs_http_request_seconds',
    help: 'Time from the request to the end of its answer.',
    labelNames: ['endpoint', 'method', 'status'],
    buckets: [0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 120],
    registers: [registry],
  });
  return { requests };
}
