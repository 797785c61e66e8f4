import type { Metadata } from 'sharp';

const COLOR_SPACE_OFFSET = 16;
/** libvips' name for RGB of 16 bits per sample. */
const DEEP = 'rgb16';
const SPACES: Readonly<Record<string, readonly string[]>> = {
  'RGB ': ['srgb', 'rgb', 'rgb16'],
  GRAY: ['b-w', 'grey16'],
};

/**
 * Returns whether the output keeps the profile with unchanged samples. That is any RGB or gray profile other than sRGB,
 * so that a wide gamut is kept, and sRGB with samples of 16 bits, which libvips would convert through Display P3. With
 * other profiles, such as CMYK, the samples are converted to sRGB.
 */
export function hasKeptProfile({ icc, space }: Pick<Metadata, 'icc' | 'space'>): boolean {
  if (icc === undefined || icc.length < 128) return false;
  const fits = SPACES[icc.toString('latin1', COLOR_SPACE_OFFSET, COLOR_SPACE_OFFSET + 4)]?.includes(space) ?? false;
  return fits && (space === DEEP || !/s\0?R\0?G\0?B/.test(icc.toString('latin1')));
}

/** Returns whether libvips converts the samples to Display P3 when sRGB is requested. */
export function becomesDisplayP3({ icc, space }: Pick<Metadata, 'icc' | 'space'>): boolean {
  return icc !== undefined && space === DEEP;
}
