import type { IncomingHttpHeaders } from 'node:http';

/** Range of bytes, both ends included. */
interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/**
 * Returns the single byte range that a request asks for (RFC 9110, 14.2). Returns null for the whole file: without a
 * Range header, for several ranges, another unit or bytes beyond the end, and when `If-Range` does not match. An
 * unsatisfiable range gets the whole file, as RFC 9110, 15.5.17 allows: 416 is no status of the interface
 * (docs/reference/errors.md#types-and-statuses).
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
