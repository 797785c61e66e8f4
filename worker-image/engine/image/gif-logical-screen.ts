/**
 * Logical screens of GIFs that libvips does not trust: it reads the area that the frames cover instead when the screen has a
 * size that old programs wrote into every file, or a side over 2,048 pixels.
 */
import type { ImageSize } from '#worker-image/engine/image/picture.ts';

const DEFAULTS: readonly string[] = ['640x480', '640x512', '800x600', '1024x768', '1280x1024', '1600x1200'];
/** Maximum side that libvips trusts, in pixels. */
const MAX_SIDE = 2048;

/** Returns whether the screen has a size that old programs wrote into every file. */
export function isDefaultScreen({ width, height }: ImageSize): boolean {
  return DEFAULTS.includes(`${width}x${height}`);
}

/** Returns whether libvips takes the area that the frames cover for the screen. */
export function isDistrusted(screen: ImageSize): boolean {
  return isDefaultScreen(screen) || Math.max(screen.width, screen.height) > MAX_SIDE;
}
