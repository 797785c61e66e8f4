/**
 * HTTP requests to a port or to a unix socket. The URL of a server on a socket is
 * `http+unix://<path of the socket, percent-encoded>`, to which the path of a request is appended as usual:
 * `http+unix://%2Frun%2Fmediajobs%2Ffiles%2Fsocket/files/a?expires=1`. Imports only modules of Node.js, because the
 * worker sends its first heartbeat before it loads other modules.
 */
import type { ClientRequest, RequestOptions } from 'node:http';

/**
 * Node's HTTP module. Importing it by its name reads every export of it, which loads the WebSocket client and takes 40
 * of the 70 ms of CPU time that the modules of an attempt take.
 */
export const http = process.getBuiltinModule('node:http');
const SCHEME = 'http+unix:';

/** Returns the URL of the server that listens on the socket, without a slash at its end. */
export function socketUrl(socket: string): string {
  return `${SCHEME}//${encodeURIComponent(socket)}`;
}

/** Returns the path of the socket in the URL; null for a URL of another scheme. */
export function socketOf(url: string | URL): string | null {
  const { protocol, host } = new URL(url);
  return protocol === SCHEME ? decodeURIComponent(host) : null;
}

/** Starts a request to an `http:`, `https:` or `http+unix:` URL. */
export function startRequest(url: string | URL, options: RequestOptions): ClientRequest {
  const socketPath = socketOf(url);
  if (socketPath === null && new URL(url).protocol === 'https:')
    return process.getBuiltinModule('node:https').request(url, options);
  if (socketPath === null) return http.request(url, options);
  const { pathname, search } = new URL(url);
  return http.request({ ...options, socketPath, path: `${pathname === '' ? '/' : pathname}${search}` });
}
