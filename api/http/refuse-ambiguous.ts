/**
 * Refuses requests that a proxy in front of the service may parse differently from Node.js: the end of a body, the host
 * or the version of HTTP. Node.js refuses most of them itself (`refuse-malformed.ts`); these pass its parser. Source:
 * RFC 9112 sections 2.3, 3.2, 6.1 and 7.4.
 */
import type { IncomingMessage } from 'node:http';
import { MediaError } from '#crds/contract/media-error.ts';

/** Refuses an ambiguous request; the caller closes the connection after the response. @throws MediaError bad_request */
export function refuseAmbiguous(request: IncomingMessage): void {
  for (const { problem } of RULES) {
    const found = problem(request);
    if (found === null) continue;
    throw new MediaError('bad_request', found.message, found.param === undefined ? {} : { param: found.param });
  }
}

interface Problem {
  readonly message: string;
  /** Name of the header at fault; absent for the request line. */
  readonly param?: string;
}

interface Rule {
  /** Explanation for readers of the code. */
  readonly refuses: string;
  readonly problem: (request: IncomingMessage) => Problem | null;
}

const RULES: readonly Rule[] = [
  {
    refuses: 'A version other than HTTP/1.0 and HTTP/1.1; the parser also accepts 0.9 and 2.0.',
    problem: ({ httpVersion }) =>
      httpVersion === '1.1' || httpVersion === '1.0'
        ? null
        : { message: `HTTP/${httpVersion} is not supported here; use HTTP/1.1.` },
  },
  {
    refuses: 'A header that is another one to programs that read `_` as `-`, such as `Transfer_Encoding`.',
    problem: (request) => {
      const name = headerNames(request).find(
        (sent) => sent.includes('_') && SIGNIFICANT_HEADERS.has(sent.replaceAll('_', '-')),
      );
      return name === undefined
        ? null
        : { message: `The header name \`${name}\` contains \`_\`; write it with \`-\`.`, param: name };
    },
  },
  {
    refuses: 'A transfer coding other than chunked alone, and any in HTTP/1.0, which has none.',
    problem: (request) => {
      const codings = headerValues(request, 'transfer-encoding');
      if (codings.length === 0) return null;
      const isChunked = codings.length === 1 && codings[0]?.toLowerCase() === 'chunked';
      return isChunked && request.httpVersion === '1.1'
        ? null
        : { message: 'The transfer coding must be `chunked`, alone and in HTTP/1.1.', param: 'Transfer-Encoding' };
    },
  },
  {
    refuses: 'No Host header, several of them, or one that is no host name.',
    problem: (request) => {
      const hosts = headerValues(request, 'host');
      if (hosts.length === 0 && request.httpVersion === '1.0') return null;
      const message =
        hosts.length === 1
          ? 'The `Host` header is not a host name, with or without a port.'
          : `The request has ${hosts.length} \`Host\` headers; send one.`;
      return hosts.length === 1 && HOST_PATTERN.test(hosts[0] ?? '') ? null : { message, param: 'Host' };
    },
  },
  {
    refuses: 'A whole URL as target that is not http or https, or names another host than the Host header.',
    problem: (request) => {
      const target = request.url ?? '';
      if (target.startsWith('/') || target === '*') return null;
      const host = headerValues(request, 'host')[0]?.toLowerCase();
      const [, named] = /^https?:\/\/([^/?#]*)(?:[/?#]|$)/i.exec(target) ?? [];
      return named !== undefined && HOST_PATTERN.test(named) && (host === undefined || named.toLowerCase() === host)
        ? null
        : { message: 'The target of the request must be a path, or a URL with the host of the `Host` header.' };
    },
  },
];

/** Headers that frame a request, or on which the service or a proxy bases decisions. */
const SIGNIFICANT_HEADERS = new Set([
  'authorization',
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'cookie',
  'expect',
  'forwarded',
  'host',
  'idempotency-key',
  'keep-alive',
  'proxy-connection',
  'svc-version',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
]);
/** A name, an IPv4 address or a bracketed IPv6 address, with an optional port (RFC 3986 3.2.2, without user name). */
const HOST_PATTERN = /^(?:[A-Za-z0-9._~-]+|\[[0-9A-Fa-f:.]+\])(?::\d{0,5})?$/;

function headerNames({ rawHeaders }: IncomingMessage): string[] {
  return rawHeaders.filter((_text, index) => index % 2 === 0).map((name) => name.toLowerCase());
}

function headerValues(request: IncomingMessage, name: string): string[] {
  return headerNames(request).flatMap((sent, index) =>
    sent === name ? [request.rawHeaders[index * 2 + 1] ?? ''] : [],
  );
}
