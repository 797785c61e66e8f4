/** ID3v2 tags at the start of a file. Source: ID3v2.4. */
import { hasBytes } from '#worker-image/engine/containers/has-bytes.ts';
import type { FileReader } from '#worker-image/engine/containers/file-reader.ts';

const HEADER_BYTES = 10;
const FOOTER_BYTES = 10;
const HAS_FOOTER = 0x10;
/** Maximum number of consecutive tags that are skipped. */
const MAX_TAGS = 8;

/** Returns the offset behind the consecutive ID3v2 tags at the start of the file; 0 without one. */
export async function endOfId3Tags(file: FileReader): Promise<number> {
  let at = 0;
  for (let tags = 0; tags < MAX_TAGS; tags += 1) {
    const header = await file.read(at, HEADER_BYTES);
    if (header.length < HEADER_BYTES || !hasBytes(header, 'ID3')) break;
    const footer = (header.readUInt8(5) & HAS_FOOTER) === 0 ? 0 : FOOTER_BYTES;
    at += HEADER_BYTES + id3Size(header.subarray(6)) + footer;
  }
  return at;
}

/** Returns the number in the bytes, seven bits per byte: the size of a tag without header and footer. */
export function id3Size(bytes: Buffer): number {
  return bytes.reduce((sum, byte) => sum * 128 + (byte & 0x7f), 0);
}
