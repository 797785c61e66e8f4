/** The sequence header of AV1. Source: AV1 Bitstream & Decoding Process Specification, 5.3, 5.5 and 6.4. */

const SEQUENCE_HEADER = 1;
/** Profile whose images have three planes always, and the one with 12 bits. */
const [HIGH, PROFESSIONAL] = [1, 2];

/**
 * Returns whether a monochrome still image has limited-range samples, 16 to 235 as in video.
 * @param units Units of the bit stream, of which the first is the sequence header.
 * @returns false for color images, for a header with more than a still image needs, and for other units.
 */
export function isLimitedRangeStill(units: Buffer): boolean {
  const read = bitReader(units);
  read(1);
  const type = read(4);
  const [hasExtension, hasSize] = [read(1) === 1, read(1) === 1];
  read(1);
  if (type !== SEQUENCE_HEADER || hasExtension) return false;
  // The size of a sequence header fits into the first of its bytes.
  if (hasSize) read(8);
  const profile = read(3);
  const isReduced = read(2) === 0b11;
  if (!isReduced || profile === HIGH) return false;
  // Level.
  read(5);
  const [widthBits, heightBits] = [read(4) + 1, read(4) + 1];
  read(widthBits);
  read(heightBits);
  // Superblocks, intra filters, super-resolution, CDEF, restoration.
  read(6);
  const isDeep = read(1) === 1;
  if (isDeep && profile === PROFESSIONAL) read(1);
  const isMonochrome = read(1) === 1;
  const hasColors = read(1) === 1;
  if (hasColors) read(24);
  return isMonochrome && read(1) === 0;
}

/** Returns a function that reads the next bits as a number, the highest first; bits after the end are 1. */
function bitReader(bytes: Buffer): (bits: number) => number {
  let at = 0;
  return (bits) => {
    let value = 0;
    for (const end = at + bits; at < end; at += 1)
      value = value * 2 + (((bytes[at >> 3] ?? 0xff) >> (7 - (at & 7))) & 1);
    return value;
  };
}
