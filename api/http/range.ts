import type { IncomingHttpHeaders } from 'node:http';

/** Both ends included. */
interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/**
 * The single byte range that a request asks for (RFC 9110, 14.2); null for the whole: no Range header,
 * one that we do not serve (several ranges, another unit), or an `If-Range` that no longer holds.
 */
export function parseRange(
  headers: IncomingHttpHeaders,
  object: { size: number; etag: string },
): ByteRange | 'unsatisfiable' | null {
  const { range } = headers;
  const condition = headers['if-range'];
  if (range === undefined || (condition !== undefined && condition !== object.etag)) return null;
  const match = /^bytes=(\d*)-(\d*)$/.exec(range);
  if (match === null) return null;
  const [, first = '', last = ''] = match;
  if (first === '' && last === '') return null;
  const start = first === '' ? Math.max(0, object.size - Number(last)) : Number(first);
  const end = first === '' || last === '' ? object.size - 1 : Math.min(Number(last), object.size - 1);
  if (start >= object.size || (first === '' && Number(last) === 0)) return 'unsatisfiable';
  return start > end ? null : { start, end };
}
