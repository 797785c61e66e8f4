import type { IncomingHttpHeaders } from 'node:http';

/** Both ends included. */
interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/**
 * The single byte range that a request asks for (RFC 9110, 14.2); null for the whole: no Range header,
 * one that we do not serve (several ranges, another unit, bytes beyond the end), or an `If-Range` that no
 * longer holds. A range that cannot be satisfied gives the whole file and not 416: that status is none of
 * those an error may have (Spec: Errors / Types and statuses), and by RFC 9110, 15.5.17, a server may
 * ignore such a range and clients are prepared for 200.
 */
export function parseRange(headers: IncomingHttpHeaders, object: { size: number; etag: string }): ByteRange | null {
  const { range } = headers;
  const condition = headers['if-range'];
  if (range === undefined || (condition !== undefined && condition !== object.etag)) return null;
  const [, first = '', last = ''] = /^bytes=(\d*)-(\d*)$/.exec(range) ?? [];
  if (first !== '') return fromStart(Number(first), last, object.size);
  return last === '' ? null : suffix(Number(last), object.size);
}

function fromStart(start: number, last: string, size: number): ByteRange | null {
  const end = last === '' ? size - 1 : Math.min(Number(last), size - 1);
  return start > end ? null : { start, end };
}

function suffix(length: number, size: number): ByteRange | null {
  return length === 0 || size === 0 ? null : { start: Math.max(0, size - length), end: size - 1 };
}
