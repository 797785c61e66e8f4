/**
 * Color spaces of files that name theirs by numbers in place of an ICC profile: AVIF and HEIC in an `nclx` box, PNG in the
 * chunks cICP, gAMA and cHRM. Source of the numbers: ITU-T H.273.
 */

/** x and y in the chromaticity diagram of CIE 1931. */
export type Chromaticity = readonly [x: number, y: number];

export interface Primaries {
  readonly red: Chromaticity;
  readonly green: Chromaticity;
  readonly blue: Chromaticity;
  readonly white: Chromaticity;
}

/** A color space that libvips does not know of; it reads samples without an ICC profile as sRGB. */
export interface ColorSpace {
  readonly primaries: Primaries;
  /** Returns linear light, from 0 to 1, of an encoded sample from 0 to 1. For HDR, 1 is the white of a standard screen. */
  readonly toLinear: (encoded: number) => number;
  /** True when the samples reach beyond the white of a standard screen. */
  readonly isHdr: boolean;
  /** True when colors lie outside of sRGB. */
  readonly isWide: boolean;
}

const D65: Chromaticity = [0.3127, 0.329];
export const BT_709: Primaries = { red: [0.64, 0.33], green: [0.3, 0.6], blue: [0.15, 0.06], white: D65 };
const BT_2020: Primaries = { red: [0.708, 0.292], green: [0.17, 0.797], blue: [0.131, 0.046], white: D65 };
const P3: Primaries = { red: [0.68, 0.32], green: [0.265, 0.69], blue: [0.15, 0.06], white: D65 };
const P3_CINEMA: Primaries = { ...P3, white: [0.314, 0.351] };

/** Wide primaries by number. Those of older video systems are shown as sRGB, from which they hardly differ. */
const WIDE: Readonly<Record<number, Primaries>> = { 9: BT_2020, 11: P3_CINEMA, 12: P3 };

type Transfer = Pick<ColorSpace, 'toLinear' | 'isHdr'>;

const SRGB: Transfer = {
  toLinear: (encoded) => (encoded <= 0.04045 ? encoded / 12.92 : ((encoded + 0.055) / 1.055) ** 2.4),
  isHdr: false,
};

/** Transfer functions by number. The others, such as those of video, are shown as that of sRGB. */
const TRANSFERS: Readonly<Record<number, Transfer>> = {
  5: gamma(2.8),
  8: gamma(1),
  16: { toLinear: (encoded) => rollOff(pqNits(encoded) / WHITE_NITS), isHdr: true },
  18: { toLinear: (encoded) => rollOff(hlgNits(encoded) / WHITE_NITS), isHdr: true },
};

/** Returns the color space of two numbers of H.273; null for sRGB, for what is close to it, and for unknown numbers. */
export function colorSpaceOf({ primaries, transfer }: { primaries: number; transfer: number }): ColorSpace | null {
  const [wide, curve] = [WIDE[primaries], TRANSFERS[transfer]];
  if (wide === undefined && curve === undefined) return null;
  return { primaries: wide ?? BT_709, isWide: wide !== undefined, ...(curve ?? SRGB) };
}

/** Returns samples as a power of linear light. */
export function gamma(exponent: number): Transfer {
  return { toLinear: (encoded) => encoded ** exponent, isHdr: false };
}

/** Luminance of a standard screen's white in images of high dynamic range, in cd/m². Source: ITU-R BT.2408. */
const WHITE_NITS = 203;
/** Luminance of the brightest sample of HLG, in cd/m². */
const HLG_PEAK_NITS = 1000;
const HLG_SYSTEM_GAMMA = 1.2;

/** Returns the luminance in cd/m². Source: SMPTE ST 2084. */
function pqNits(encoded: number): number {
  const [m1, m2, c1, c2, c3] = [0.1593017578125, 78.84375, 0.8359375, 18.8515625, 18.6875];
  const root = encoded ** (1 / m2);
  return 10_000 * (Math.max(0, root - c1) / (c2 - c3 * root)) ** (1 / m1);
}

/** Returns the luminance in cd/m². Source: ITU-R BT.2100. */
function hlgNits(encoded: number): number {
  const [a, b, c] = [0.17883277, 0.28466892, 0.55991073];
  const scene = encoded <= 0.5 ? encoded ** 2 / 3 : (Math.exp((encoded - c) / a) + b) / 12;
  return HLG_PEAK_NITS * scene ** HLG_SYSTEM_GAMMA;
}

/** Linear light up to which standard screens show high dynamic range as it is. */
const KNEE = 0.75;

/** Compresses light above the knee into what is left up to 1. */
function rollOff(light: number): number {
  return light <= KNEE ? light : KNEE + (1 - KNEE) * (1 - Math.exp((KNEE - light) / (1 - KNEE)));
}
