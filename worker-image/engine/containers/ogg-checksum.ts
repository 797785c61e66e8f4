/** Checksums of Ogg pages: CRC-32 with the polynomial 0x04c11db7, not reflected, with the page's own field as zero (RFC 3533). */
import type { FileReader } from '#worker-image/engine/containers/file-reader.ts';
import { MAX_OGG_PAGE_BYTES, parseOggPage } from '#worker-image/engine/containers/ogg.ts';

const CHECKSUM_AT = 22;
const CHECKSUM_BYTES = 4;
const POLYNOMIAL = 0x04c11db7;

/** Remainders of the 256 possible first bytes. */
const REMAINDERS = Uint32Array.from({ length: 256 }, (_, byte) => {
  let remainder = byte << 24;
  for (let bit = 0; bit < 8; bit += 1) remainder = (remainder << 1) ^ (remainder < 0 ? POLYNOMIAL : 0);
  return remainder;
});

/** Bytes that are read at a time: many pages. */
const READ_BYTES = 16 * MAX_OGG_PAGE_BYTES;

/** Verifies that a file consists of whole pages with matching checksums. @throws Error with the offset of another page. */
export async function verifyOggPages(ogg: FileReader): Promise<void> {
  for (let start = 0; start < ogg.size;) {
    const bytes = await ogg.read(start, READ_BYTES);
    const end = endOfPages(bytes);
    // A page that the bytes contain in part is whole in the next ones.
    if (end === 0) throw new Error(`the Ogg page at byte ${start} is damaged`);
    start += end;
  }
}

/** Returns the end of the last page before the first one that is damaged or not complete. */
function endOfPages(bytes: Buffer): number {
  let end = 0;
  while (end < bytes.length) {
    const page = parseOggPage(bytes, end);
    if (page === null || page.end > bytes.length) break;
    if (checksumOf(bytes, end, page.end) !== bytes.readUInt32LE(end + CHECKSUM_AT)) break;
    end = page.end;
  }
  return end;
}

function checksumOf(ogg: Buffer, from: number, end: number): number {
  const field = from + CHECKSUM_AT;
  let remainder = 0;
  for (let at = from; at < end; at += 1) {
    const byte = at >= field && at < field + CHECKSUM_BYTES ? 0 : (ogg[at] ?? 0);
    remainder = (remainder << 8) ^ (REMAINDERS[(remainder >>> 24) ^ byte] ?? 0);
  }
  return remainder >>> 0;
}
