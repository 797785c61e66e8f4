import type { Server as HttpServer } from 'node:http';
import type { Server as HttpsServer } from 'node:https';
import type { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { API_VERSION } from '#api/http/gates.ts';
import { refusal } from '#api/http/refusal.ts';
import type { NewId } from '#crds/ids.ts';
import { MediaError } from '#crds/media-error.ts';
import type { Log } from '#crds/shared/log.ts';

interface RefuseDeps {
  readonly newId: NewId;
  readonly log: Log;
  readonly docsUrl: string;
}

/** What Node.js says of bytes that its parser refuses. */
interface ParserError extends NodeJS.ErrnoException {
  /** A Buffer of the bytes that came last. */
  readonly rawPacket?: unknown;
}

/** Bytes that are no HTTP: the connection is closed after the error object. */
export function refuseMalformed(deps: RefuseDeps, error: ParserError, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  if (namesUnknownMethod(error)) {
    const refused = new MediaError('bad_request', 'No path supports this method.', { status: 405 });
    endWith(deps, socket, { statusLine: METHOD_NOT_ALLOWED, error: refused });
    return;
  }
  const message = PROBLEMS[error.code ?? ''] ?? 'The request is not valid HTTP/1.1.';
  endWith(deps, socket, { statusLine: '400 Bad Request', error: new MediaError('bad_request', message) });
}

const PROBLEMS: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: 'The headers are over 16 KiB.',
  ERR_HTTP_REQUEST_TIMEOUT: 'The headers of the request did not come in time.',
};

const METHOD_NOT_ALLOWED = '405 Method Not Allowed';
/** RFC 9112 3: a method, a target and the version. */
const REQUEST_LINE = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+ \S+ HTTP\/1\.[01]\r\n/;

/** A whole request line whose method Node.js does not know: to its parser that is malformed, to us a wrong method. */
function namesUnknownMethod({ code, rawPacket }: ParserError): boolean {
  return code === 'HPE_INVALID_METHOD' && Buffer.isBuffer(rawPacket) && REQUEST_LINE.test(rawPacket.toString('latin1'));
}

/**
 * What Node.js would answer by itself, without the error object: `CONNECT` is refused like any method that
 * no path has, and an `Expect` other than 100-continue is ignored (RFC 9110 10.1.1 allows both).
 */
export function answerOddRequests(deps: RefuseDeps, server: HttpServer | HttpsServer): void {
  server.on('connect', (_request: unknown, socket: Duplex) => {
    const error = new MediaError('bad_request', 'CONNECT is not supported: this is no proxy.', { status: 405 });
    endWith(deps, socket, { statusLine: METHOD_NOT_ALLOWED, error });
  });
  server.on('checkExpectation', (request, response) => void server.emit('request', request, response));
}

/** Plain http on the HTTPS port. TLS has taken its bytes: the answer goes out below it, and the key stays unknown. */
export function refusePlainHttp(deps: RefuseDeps, server: HttpsServer): void {
  server.on('tlsClientError', (error: NodeJS.ErrnoException, socket) => {
    const { _parent: connection } = socket as TLSSocket & { readonly _parent?: Duplex };
    if (error.code !== 'ERR_SSL_HTTP_REQUEST' || connection?.writable !== true) return;
    endWith(deps, connection, { statusLine: '403 Forbidden', error: plainHttp() });
  });
}

export function plainHttp(): MediaError {
  return new MediaError(
    'https_required',
    'This is plain http. Use https; a key sent this way must be treated as exposed: create a new one and revoke it.',
  );
}

function endWith(
  deps: RefuseDeps,
  socket: Duplex,
  { statusLine, error }: { statusLine: string; error: MediaError },
): void {
  const requestId = deps.newId('request');
  const text = JSON.stringify(refusal(deps, { error, requestId }).body);
  socket.on('error', () => undefined);
  socket.end(
    [
      `HTTP/1.1 ${statusLine}`,
      `Svc-Request-Id: ${requestId}`,
      `Svc-Version: ${API_VERSION}`,
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(text)}`,
      'Connection: close',
      '',
      text,
    ].join('\r\n'),
  );
}
