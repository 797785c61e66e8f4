import { request as plainRequest, type ClientRequest, type IncomingMessage } from 'node:http';
import { request as tlsRequest } from 'node:https';
import { TransientFault } from '#worker-image/transfer/retrying.ts';

export interface HttpRequest {
  readonly method: 'GET' | 'PUT' | 'POST';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

/** A connection on which nothing moved for so long is given up. */
const STILL_MS = 30_000;

/**
 * Sends the request; `send` writes the body and ends the request.
 * @throws TransientFault when the connection fails.
 */
export function openRequest(input: HttpRequest, send: (request: ClientRequest) => void): Promise<IncomingMessage> {
  const { method, url, headers, signal } = input;
  const start = url.startsWith('https:') ? tlsRequest : plainRequest;
  return new Promise((resolve, reject) => {
    const request = start(url, { method, headers, signal, timeout: STILL_MS });
    request.once('timeout', () => request.destroy(new Error(`nothing moved for ${STILL_MS / 1000} seconds`)));
    request.once('error', (error) => reject(new TransientFault(error.message, { cause: error })));
    request.once('response', resolve);
    send(request);
  });
}

/** True for an answer after which the same request may succeed. */
export function isTransient(status: number): boolean {
  return status >= 500 || status === 408 || status === 425 || status === 429;
}
