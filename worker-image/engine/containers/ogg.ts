/** Pages of Ogg files. Source: RFC 3533. */
import { hasBytes } from '#worker-image/engine/containers/has-bytes.ts';

export interface OggPage {
  /** First page of a logical stream. */
  readonly beginsStream: boolean;
  /** Last page of a logical stream. */
  readonly endsStream: boolean;
  readonly body: number;
  /** End by the page's segment table, which may be outside the buffer. */
  readonly end: number;
}

const HEADER_BYTES = 27;
/** Maximum size of a page, in bytes: header, 255 segment sizes, 255 bytes per segment. */
export const MAX_OGG_PAGE_BYTES = HEADER_BYTES + 255 + 255 * 255;

/** Parses the page at an offset; null when none begins there or its header is truncated. */
export function parseOggPage(bytes: Buffer, at: number): OggPage | null {
  if (!hasBytes(bytes, 'OggS', at) || at + HEADER_BYTES > bytes.length) return null;
  const flags = bytes.readUInt8(at + 5);
  const segments = bytes.readUInt8(at + 26);
  const body = at + HEADER_BYTES + segments;
  const size = bytes.subarray(at + HEADER_BYTES, body).reduce((sum, segment) => sum + segment, 0);
  return { beginsStream: (flags & 2) !== 0, endsStream: (flags & 4) !== 0, body, end: body + size };
}
