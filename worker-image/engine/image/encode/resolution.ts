import type { PixelSource, Resolution } from '#worker-image/engine/image/picture.ts';

/** Pixels per inch of an image that states no resolution, as one pixel is one point. */
const DEFAULT_DENSITY = 72;

/** Returns the resolution of an image within limits, in pixels per inch. */
export function resolutionOf(
  { metadata, resolution }: Pick<PixelSource, 'metadata' | 'resolution'>,
  { min, max }: { readonly min: number; readonly max: number },
): Resolution {
  const { density = DEFAULT_DENSITY } = metadata;
  const limit = (pixelsPerInch: number): number => Math.min(max, Math.max(min, pixelsPerInch));
  return { x: limit(resolution?.x ?? density), y: limit(resolution?.y ?? density) };
}
