/**
 * The logical screen of a GIF, which browsers show. libvips reads the area that the frames cover instead when the
 * screen has a size that old programs wrote into every file, such as 640 × 480, or a side over 2,048 pixels.
 */
import type { Metadata } from 'sharp';
import type { ImageSize } from '#worker-image/engine/image/resize-image.ts';

const WIDTH_AT = 6;
const HEIGHT_AT = 8;
const HEADER_BYTES = 10;
const DISTRUSTED: readonly string[] = ['640x480', '640x512', '800x600', '1024x768', '1280x1024', '1600x1200'];

/** Returns the logical screen when libvips would crop its margins, else null. @param head First bytes of the file. */
export function findCroppedScreen(head: Buffer, covered: ImageSize): ImageSize | null {
  if (head.length < HEADER_BYTES) return null;
  const screen = { width: head.readUInt16LE(WIDTH_AT), height: head.readUInt16LE(HEIGHT_AT) };
  return screen.width <= covered.width && screen.height <= covered.height ? null : screen;
}

/**
 * Returns whether libvips reads the margins of a copy with a wider screen as browsers show them. In a GIF without
 * transparency it would fill them with a color.
 */
export function isRecoverable({ width, height }: ImageSize, { hasAlpha }: Pick<Metadata, 'hasAlpha'>): boolean {
  return hasAlpha && DISTRUSTED.includes(`${width}x${height}`);
}

/** Returns a copy with a screen one pixel wider, a size that libvips trusts. Crop the pixel after decoding. */
export function widenScreen(gif: Buffer, { width }: ImageSize): Buffer {
  const copy = Buffer.from(gif);
  copy.writeUInt16LE(width + 1, WIDTH_AT);
  return copy;
}
