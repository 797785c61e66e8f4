/** The orientation tag of EXIF, the only one that a stripped image keeps. */

const ORIENTATION_TAG = 0x0112;
const SHORT = 3;
export const UPRIGHT = 1;

/** Returns the orientation, 1 to 8, of the TIFF structure of an EXIF block; 1 when there is none. */
export function readOrientation(tiff: Buffer): number {
  const little = tiff.toString('latin1', 0, 2) === 'II';
  if (tiff.length < 14 || (!little && tiff.toString('latin1', 0, 2) !== 'MM')) return UPRIGHT;
  const short = (at: number): number =>
    at + 2 > tiff.length ? 0 : little ? tiff.readUInt16LE(at) : tiff.readUInt16BE(at);
  const directory = little ? tiff.readUInt32LE(4) : tiff.readUInt32BE(4);
  const entries = short(directory);
  for (let i = 0; i < entries; i += 1) {
    const entry = directory + 2 + i * 12;
    if (entry + 12 > tiff.length) return UPRIGHT;
    if (short(entry) === ORIENTATION_TAG) {
      const value = short(entry + 8);
      return value >= 1 && value <= 8 ? value : UPRIGHT;
    }
  }
  return UPRIGHT;
}

/** Returns the smallest TIFF structure with an orientation: 26 bytes. */
export function makeOrientationTiff(orientation: number): Buffer {
  const tiff = Buffer.alloc(26);
  tiff.write('MM', 0, 'latin1');
  tiff.writeUInt16BE(42, 2);
  tiff.writeUInt32BE(8, 4);
  tiff.writeUInt16BE(1, 8);
  tiff.writeUInt16BE(ORIENTATION_TAG, 10);
  tiff.writeUInt16BE(SHORT, 12);
  tiff.writeUInt32BE(1, 14);
  tiff.writeUInt16BE(orientation, 18);
  return tiff;
}
