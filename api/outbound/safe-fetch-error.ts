/** Reason why a request to a caller's address got no response. */
export type SafeFetchReason =
  | 'bad_url'
  | 'forbidden_address'
  | 'name_not_found'
  | 'connection_failed'
  | 'certificate'
  | 'timeout'
  | 'too_many_redirects'
  | 'body_too_large'
  | 'bad_response'
  | 'aborted';

/**
 * Only error that `safe-fetch.ts` throws. The message is the end of a sentence for the caller ("the host's certificate
 * is not trusted"). It contains no address, so that it does not reveal the internal network.
 */
export class SafeFetchError extends Error {
  override readonly name = 'SafeFetchError';
  readonly reason: SafeFetchReason;

  constructor(reason: SafeFetchReason, message: string, cause?: unknown) {
    super(message, { cause });
    this.reason = reason;
  }

  /** True when a retry may succeed. */
  get isTransient(): boolean {
    return TRANSIENT.includes(this.reason);
  }
}

/** Returns the SafeFetchError for an error of undici, net, tls or dns. */
export function toSafeFetchError(error: unknown): SafeFetchError {
  if (error instanceof SafeFetchError) return error;
  const code = errorCode(error);
  const row = ROWS.find(({ codes }) => codes.test(code));
  const { reason, message } = row ?? { reason: 'connection_failed' as const, message: 'the connection failed' };
  return new SafeFetchError(reason, message, error);
}

const TRANSIENT: readonly SafeFetchReason[] = ['name_not_found', 'connection_failed', 'timeout', 'bad_response'];

const ROWS: readonly { codes: RegExp; reason: SafeFetchReason; message: string }[] = [
  { codes: /^(ENOTFOUND|EAI_|ENODATA)/, reason: 'name_not_found', message: 'the host name has no address' },
  {
    codes: /CERT|SELF_SIGNED|UNABLE_TO_|ISSUER|HOSTNAME_MISMATCH/,
    reason: 'certificate',
    message: "the host's certificate is not trusted",
  },
  { codes: /^(ERR_SSL|EPROTO|ERR_TLS)/, reason: 'connection_failed', message: 'no TLS connection could be made' },
  {
    codes: /^(ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT)/,
    reason: 'timeout',
    message: 'the host did not accept a connection in time',
  },
  {
    codes: /^UND_ERR_RES_CONTENT_LENGTH/,
    reason: 'connection_failed',
    message: 'the connection closed before the response was complete',
  },
  {
    codes: /^HPE_|HEADERS_OVERFLOW|UND_ERR_RES_/,
    reason: 'bad_response',
    message: 'the response is not valid HTTP, or its headers are too long',
  },
  {
    codes: /^(ECONNREFUSED|EHOSTUNREACH|ENETUNREACH)/,
    reason: 'connection_failed',
    message: 'the host did not accept a connection',
  },
  {
    codes: /^(ECONNRESET|EPIPE|UND_ERR_SOCKET)/,
    reason: 'connection_failed',
    message: 'the connection closed before the response was complete',
  },
];

function errorCode(error: unknown): string {
  if (typeof error !== 'object' || error === null) return '';
  // HTTPParserError does not always have a code.
  if ('name' in error && error.name === 'HTTPParserError') return 'HPE_INVALID';
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  // undici wraps the error of the socket.
  const inner = 'cause' in error ? errorCode(error.cause) : '';
  return code === 'UND_ERR_SOCKET' && inner !== '' ? inner : code;
}
