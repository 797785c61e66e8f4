import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

export interface ApiMetrics {
  /** Duration of requests, in seconds. */
  readonly requests: Histogram<'endpoint' | 'method' | 'status'>;
  readonly connections: Gauge;
  /** Connections closed before a request, by `reason`: `address_limit`, `total_limit` or `handshake_timeout`. */
  readonly connectionsClosed: Counter<'reason'>;
}

/**
 * Registers the metrics of the HTTP process. Label values come from closed sets: path patterns of endpoints, methods,
 * statuses and reasons.
 */
export function makeApiMetrics(registry: Registry): ApiMetrics {
  const requests = new Histogram({
    name: 'mediajobs_http_request_seconds',
    help: 'Duration from the request to the end of its response, in seconds, by endpoint, method and status.',
    labelNames: ['endpoint', 'method', 'status'],
    buckets: [0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 120],
    registers: [registry],
  });
  const connections = new Gauge({
    name: 'mediajobs_http_connections',
    help: 'Open connections to the HTTPS and the plain http port.',
    registers: [registry],
  });
  const connectionsClosed = new Counter({
    name: 'mediajobs_http_connections_closed_total',
    help: 'Connections closed before a request, by reason.',
    labelNames: ['reason'],
    registers: [registry],
  });
  return { requests, connections, connectionsClosed };
}
