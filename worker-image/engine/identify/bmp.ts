import type { Format } from '#crds/catalogue/formats.ts';
import { hasBytes } from '#worker-image/engine/containers/has-bytes.ts';

/** Sizes of the second header, in bytes. */
const HEADER_BYTES: readonly number[] = [12, 16, 40, 52, 56, 64, 108, 124];

/** Returns `bmp` for a bitmap. Its signature has only two letters, so the size of the second header decides. */
export function formatOfBmp(head: Buffer): Format | null {
  return hasBytes(head, 'BM') && head.length >= 26 && HEADER_BYTES.includes(head.readUInt32LE(14)) ? 'bmp' : null;
}
