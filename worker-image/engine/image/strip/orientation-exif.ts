/** The orientation tag of EXIF, the only one that a stripped image keeps. */
import { parseTiffDirectory, TIFF_TAG, tiffCoding } from '#worker-image/engine/containers/tiff.ts';

const SHORT = 3;
export const UPRIGHT = 1;

/** Returns the orientation, 1 to 8, of the TIFF structure of an EXIF block; 1 when there is none. */
export function readOrientation(tiff: Buffer): number {
  const coding = tiffCoding(tiff);
  if (coding === null) return UPRIGHT;
  const at = coding.number(tiff, coding.firstLinkAt, coding.offsetBytes);
  const { entries } = parseTiffDirectory(coding, tiff.subarray(at), at);
  const value = entries.find(({ tag }) => tag === TIFF_TAG.orientation)?.number ?? UPRIGHT;
  return value >= 1 && value <= 8 ? value : UPRIGHT;
}

/** Returns the smallest TIFF structure with an orientation: 26 bytes. */
export function makeOrientationTiff(orientation: number): Buffer {
  const tiff = Buffer.alloc(26);
  tiff.write('MM', 0, 'latin1');
  tiff.writeUInt16BE(42, 2);
  tiff.writeUInt32BE(8, 4);
  tiff.writeUInt16BE(1, 8);
  tiff.writeUInt16BE(TIFF_TAG.orientation, 10);
  tiff.writeUInt16BE(SHORT, 12);
  tiff.writeUInt32BE(1, 14);
  tiff.writeUInt16BE(orientation, 18);
  return tiff;
}
