/** Header of a BMP file, validated before anything is allocated. */
import { MediaError } from '#crds/contract/media-error.ts';

export interface BmpHeader {
  readonly width: number;
  readonly height: number;
  /** True when the first row of the file is the top of the image. */
  readonly topDown: boolean;
  readonly bits: 1 | 2 | 4 | 8 | 16 | 24 | 32;
  readonly compression: 'none' | 'rle8' | 'rle4' | 'masks';
  readonly masks: { readonly red: number; readonly green: number; readonly blue: number; readonly alpha: number };
  /** Entries of blue, green and red, 3 or 4 bytes each. */
  readonly palette: { readonly offset: number; readonly count: number; readonly entryBytes: 3 | 4 };
  readonly pixelOffset: number;
  /** True when the file contains or names a color profile. */
  readonly hasProfile: boolean;
}

const FILE_HEADER = 14;
const OS2_HEADER = 12;
/** Minimum length of OS/2's second header, in bytes. It extends the Windows header; all but these bytes may be missing. */
const OS2_SHORT_HEADER = 16;
const WINDOWS_HEADER = 40;
/** Length of BITMAPV2INFOHEADER, which contains the color masks, in bytes. */
const MASKS_INSIDE = 52;
const ALPHA_INSIDE = 56;
/** Length of BITMAPV5HEADER, which may name a color profile, in bytes. */
const PROFILE_INSIDE = 124;
const COLOR_SPACE_AT = FILE_HEADER + 56;
/** Color spaces MBED and LINK, a profile in the file and one beside it, as their bytes are stored. */
const PROFILES: readonly string[] = ['DEBM', 'KNIL'];
const DEPTHS: readonly number[] = [1, 2, 4, 8, 16, 24, 32];
const COMPRESSIONS: Readonly<Record<number, BmpHeader['compression']>> = {
  0: 'none',
  1: 'rle8',
  2: 'rle4',
  3: 'masks',
  6: 'masks',
};

/**
 * Reads the header from the file's first bytes.
 * @throws MediaError processing_failed when it is no BMP that can be read.
 */
export function readBmpHeader(bytes: Buffer): BmpHeader {
  if (bytes.length < FILE_HEADER + OS2_HEADER || bytes.toString('latin1', 0, 2) !== 'BM')
    throw damaged('its header is truncated');
  const headerBytes = bytes.readUInt32LE(FILE_HEADER);
  if (headerBytes !== OS2_HEADER && headerBytes < OS2_SHORT_HEADER)
    throw damaged(`its header of ${headerBytes} bytes is of no known version`);
  if (bytes.length < FILE_HEADER + Math.min(headerBytes, WINDOWS_HEADER)) throw damaged('its header is truncated');
  return headerBytes === OS2_HEADER ? os2Header(bytes) : windowsHeader(wholeHeader(bytes, headerBytes), headerBytes);
}

export function damaged(why: string): MediaError {
  return new MediaError(
    'processing_failed',
    `The BMP cannot be read: ${why}. Check that it opens in a viewer and send it again.`,
  );
}

/** Fills the missing fields of a short header with 0. */
function wholeHeader(bytes: Buffer, headerBytes: number): Buffer {
  if (headerBytes >= WINDOWS_HEADER) return bytes;
  return Buffer.concat([bytes.subarray(0, FILE_HEADER + headerBytes), Buffer.alloc(WINDOWS_HEADER - headerBytes)]);
}

function os2Header(bytes: Buffer): BmpHeader {
  const bits = depth(bytes.readUInt16LE(24));
  return {
    width: side(bytes.readUInt16LE(18)),
    height: side(bytes.readUInt16LE(20)),
    topDown: false,
    bits,
    compression: 'none',
    masks: defaultMasks(bits),
    palette: { offset: FILE_HEADER + OS2_HEADER, count: bits <= 8 ? 2 ** bits : 0, entryBytes: 3 },
    pixelOffset: bytes.readUInt32LE(10),
    hasProfile: false,
  };
}

function windowsHeader(bytes: Buffer, headerBytes: number): BmpHeader {
  const height = bytes.readInt32LE(22);
  const bits = depth(bytes.readUInt16LE(28));
  const compression = COMPRESSIONS[bytes.readUInt32LE(30)];
  if (compression === undefined) throw damaged(`its compression ${bytes.readUInt32LE(30)} is not supported`);
  const outsideMasks = compression === 'masks' && headerBytes < MASKS_INSIDE;
  const colors = bytes.readUInt32LE(46);
  const maxColors = bits <= 8 ? 2 ** bits : 0;
  const paletteOffset = FILE_HEADER + headerBytes + (outsideMasks ? 12 : 0);
  return {
    width: side(bytes.readInt32LE(18)),
    height: side(Math.abs(height)),
    topDown: height < 0,
    bits,
    compression,
    masks: compression === 'masks' ? sentMasks(bytes, headerBytes) : defaultMasks(bits),
    palette: {
      offset: paletteOffset,
      count: Math.min(maxColors, colors === 0 ? maxColors : colors),
      entryBytes: 4,
    },
    // Some writers omit the palette here. One without a number of colors may be shorter than the maximum.
    pixelOffset: Math.max(bytes.readUInt32LE(10), paletteOffset + Math.min(maxColors, colors) * 4),
    hasProfile:
      headerBytes >= PROFILE_INSIDE && PROFILES.includes(bytes.toString('latin1', COLOR_SPACE_AT, COLOR_SPACE_AT + 4)),
  };
}

function sentMasks(bytes: Buffer, headerBytes: number): BmpHeader['masks'] {
  const start = FILE_HEADER + WINDOWS_HEADER;
  if (bytes.length < start + 12) throw damaged('its color masks are truncated');
  const alpha = headerBytes >= ALPHA_INSIDE && bytes.length >= start + 16 ? bytes.readUInt32LE(start + 12) : 0;
  return {
    red: bytes.readUInt32LE(start),
    green: bytes.readUInt32LE(start + 4),
    blue: bytes.readUInt32LE(start + 8),
    alpha,
  };
}

function defaultMasks(bits: number): BmpHeader['masks'] {
  if (bits === 16) return { red: 0x7c00, green: 0x03e0, blue: 0x001f, alpha: 0 };
  return { red: 0xff0000, green: 0x00ff00, blue: 0x0000ff, alpha: 0 };
}

function depth(bits: number): BmpHeader['bits'] {
  if (!DEPTHS.includes(bits)) throw damaged(`its depth of ${bits} bits is not supported`);
  return bits as BmpHeader['bits'];
}

function side(value: number): number {
  if (value < 1) throw damaged(`a side has ${value} pixels`);
  return value;
}
