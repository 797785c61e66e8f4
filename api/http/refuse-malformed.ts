import type { Dependencies } from '#api/dependencies.ts';
import type { Server as HttpServer } from 'node:http';
import type { Server as HttpsServer } from 'node:https';
import type { Duplex } from 'node:stream';
import { TLSSocket } from 'node:tls';
import { API_VERSION } from '#api/interface-version.ts';
import { HTTPS_ONLY } from '#api/http/https-only.ts';
import { refusal } from '#api/http/refusal.ts';
import { MediaError } from '#crds/contract/media-error.ts';

type RefuseDeps = Pick<Dependencies, 'newId' | 'log' | 'docsUrl'>;

/** Error of the HTTP parser of Node.js. */
interface ParserError extends NodeJS.ErrnoException {
  /** Buffer with the bytes received last. */
  readonly rawPacket?: unknown;
}

/** Sends the error object in response to bytes that are not valid HTTP, and closes the connection. */
export function refuseMalformed(deps: RefuseDeps, error: ParserError, socket: Duplex): void {
  if (socket instanceof TLSSocket && !hasEndedHandshake(socket)) return;
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  if (hasUnknownMethod(error)) {
    const refused = new MediaError('bad_request', 'No path supports this method.', { status: 405 });
    sendErrorAndClose(deps, socket, { statusLine: METHOD_NOT_ALLOWED, error: refused });
    return;
  }
  const message = PARSER_MESSAGES[error.code ?? ''] ?? 'The request is not valid HTTP/1.1.';
  sendErrorAndClose(deps, socket, { statusLine: '400 Bad Request', error: new MediaError('bad_request', message) });
}

const PARSER_MESSAGES: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: 'The headers are over 16 KiB.',
  ERR_HTTP_REQUEST_TIMEOUT: 'The headers of the request were not received in time.',
};

const METHOD_NOT_ALLOWED = '405 Method Not Allowed';
/** Request line of RFC 9112 3: a method, a target and the version. */
const REQUEST_LINE = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+ \S+ HTTP\/1\.[01]\r\n/;

/** Returns whether the parser refused a valid request line only because Node.js does not know its method. */
function hasUnknownMethod({ code, rawPacket }: ParserError): boolean {
  return code === 'HPE_INVALID_METHOD' && Buffer.isBuffer(rawPacket) && REQUEST_LINE.test(rawPacket.toString('latin1'));
}

/**
 * Replaces responses of Node.js that have no error object. `CONNECT` is refused like any unsupported method, and an
 * `Expect` other than 100-continue is ignored (RFC 9110 10.1.1 allows both).
 */
export function handleConnectAndExpect(deps: RefuseDeps, server: HttpServer | HttpsServer): void {
  server.on('connect', (_request: unknown, socket: Duplex) => {
    const error = new MediaError('bad_request', 'CONNECT is not supported: this server is not a proxy.', {
      status: 405,
    });
    sendErrorAndClose(deps, socket, { statusLine: METHOD_NOT_ALLOWED, error });
  });
  server.on('checkExpectation', (request, response) => void server.emit('request', request, response));
}

/**
 * Closes connections whose TLS handshake failed or timed out, which node:https leaves to listeners of `clientError`.
 * Plain http on the HTTPS port gets the error object, written to the socket below TLS. TLS has consumed the request, so
 * a key in it cannot be marked as exposed.
 */
export function refuseFailedHandshake(deps: RefuseDeps, server: HttpsServer): void {
  server.on('tlsClientError', (error: NodeJS.ErrnoException, socket) => {
    const { _parent: connection } = socket as TLSSocket & { readonly _parent?: Duplex };
    if (error.code !== 'ERR_SSL_HTTP_REQUEST' || connection?.writable !== true) return void socket.destroy();
    sendErrorAndClose(deps, connection, { statusLine: '403 Forbidden', error: plainHttpError() });
  });
}

/** Returns whether the handshake has ended: until then `alpnProtocol` is null. */
function hasEndedHandshake({ alpnProtocol }: TLSSocket): boolean {
  return alpnProtocol !== null;
}

/** Returns the error for requests over plain http. */
export function plainHttpError(): MediaError {
  return new MediaError(
    'https_required',
    'This is plain http. Use https; a key sent this way must be treated as exposed: revoke it and create a new one.',
  );
}

/** Time for the client to read the response before the connection is closed, in milliseconds. */
const CLOSE_AFTER_MS = 2000;

function sendErrorAndClose(
  deps: RefuseDeps,
  socket: Duplex,
  { statusLine, error }: { statusLine: string; error: MediaError },
): void {
  const requestId = deps.newId('request');
  const text = JSON.stringify(refusal(deps, { error, requestId }).body);
  socket.on('error', () => undefined);
  // The client may keep its side open.
  const timer = setTimeout(() => socket.destroy(), CLOSE_AFTER_MS);
  socket.once('close', () => clearTimeout(timer));
  socket.end(
    [
      `HTTP/1.1 ${statusLine}`,
      `Svc-Request-Id: ${requestId}`,
      `Svc-Version: ${API_VERSION}`,
      ...(socket instanceof TLSSocket ? Object.entries(HTTPS_ONLY).map((header) => header.join(': ')) : []),
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(text)}`,
      'Connection: close',
      '',
      text,
    ].join('\r\n'),
  );
}
