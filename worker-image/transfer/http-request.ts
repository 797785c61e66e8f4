import type { ClientRequest, IncomingMessage } from 'node:http';
import { startRequest } from '#crds/process/start-request.ts';
import { RefusedUrl, TransferFailed, TransientFault } from '#worker-image/transfer/retry-transfer.ts';

export interface HttpRequest {
  readonly method: 'GET' | 'PUT' | 'POST';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

/** Time without traffic after which a connection is closed, in milliseconds. */
const IDLE_TIMEOUT_MS = 30_000;

/**
 * Sends the request; `send` writes the body and ends the request.
 * @throws TransientFault when the connection fails.
 */
export function openRequest(input: HttpRequest, send: (request: ClientRequest) => void): Promise<IncomingMessage> {
  const { method, url, headers, signal } = input;
  return new Promise((resolve, reject) => {
    const request = startRequest(url, { method, headers, signal, timeout: IDLE_TIMEOUT_MS });
    request.once('timeout', () =>
      request.destroy(new Error(`no byte was transferred for ${IDLE_TIMEOUT_MS / 1000} seconds`)),
    );
    request.once('error', (error) => reject(new TransientFault(error.message, { cause: error })));
    request.once('response', resolve);
    send(request);
  });
}

/** Statuses with which stores refuse a URL that has expired with its credentials: Amazon's uses 400 and 403. */
const URL_REFUSALS: ReadonlySet<number> = new Set([400, 401, 403]);

/** Returns the fault of a response of the store that is not a success. */
export function faultOfStatus(status: number, transfer: 'download' | 'upload'): Error {
  if (isTransient(status)) return new TransientFault(`the store responded with status ${status}`);
  const message = `the store refused the ${transfer} with status ${status}`;
  return URL_REFUSALS.has(status) ? new RefusedUrl(message) : new TransferFailed(message);
}

/** Returns whether the same request may succeed after this response status. */
export function isTransient(status: number): boolean {
  return status >= 500 || status === 408 || status === 425 || status === 429;
}
