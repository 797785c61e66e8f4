import type { Metadata } from 'sharp';

const COLOUR_SPACE_OFFSET = 16;
/** RGB of 16 bits a sample. */
const DEEP = 'rgb16';
const SPACES: Readonly<Record<string, readonly string[]>> = {
  'RGB ': ['srgb', 'rgb', 'rgb16'],
  GRAY: ['b-w', 'grey16'],
};

/**
 * Whether the picture's colours need its profile: any RGB or grey profile that is not sRGB stays with the
 * samples as they are (wide gamut is kept), and sRGB's own with samples of 16 bits, which the image library
 * takes through Display P3. Others, such as CMYK, are converted to sRGB through it.
 */
export function hasKeptProfile({ icc, space }: Pick<Metadata, 'icc' | 'space'>): boolean {
  if (icc === undefined || icc.length < 128) return false;
  const fits = SPACES[icc.toString('latin1', COLOUR_SPACE_OFFSET, COLOUR_SPACE_OFFSET + 4)]?.includes(space) ?? false;
  return fits && (space === DEEP || !/s\0?R\0?G\0?B/.test(icc.toString('latin1')));
}

/** Whether the image library, asked for sRGB, gives the samples of Display P3. */
export function becomesDisplayP3({ icc, space }: Pick<Metadata, 'icc' | 'space'>): boolean {
  return icc !== undefined && space === DEEP;
}
