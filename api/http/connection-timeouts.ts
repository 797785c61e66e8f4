import type { Server } from 'node:http';
import type { ApiMetrics } from '#api/http/metrics.ts';

/** Options of node:https and node:http, in milliseconds. */
export interface ConnectionTimeouts {
  /** Maximum duration of the TLS handshake, including a handshake that makes slow progress. */
  readonly handshakeTimeout: number;
  /** Maximum duration from the start of a connection, or of a request on it, to the end of the request's headers. */
  readonly headersTimeout: number;
  /** Interval of the check for late headers. */
  readonly connectionsCheckingInterval: number;
}

export const CONNECTION_TIMEOUTS: ConnectionTimeouts = {
  handshakeTimeout: 10_000,
  headersTimeout: 10_000,
  connectionsCheckingInterval: 5000,
};

/**
 * Timeout of a connection without traffic, in milliseconds, such as one whose client does not read the response. It
 * exceeds the 2 minutes of a direct request, during which nothing is sent or received.
 */
const IDLE_MS = 600_000;

/** Closes idle connections, and counts those that node:tls closes because their handshake timed out. */
export function closeIdleConnections(metrics: Pick<ApiMetrics, 'connectionsClosed'>, server: Server): void {
  server.timeout = IDLE_MS;
  server.on('tlsClientError', (error: NodeJS.ErrnoException) => {
    if (error.code === 'ERR_TLS_HANDSHAKE_TIMEOUT') metrics.connectionsClosed.inc({ reason: 'handshake_timeout' });
  });
}
