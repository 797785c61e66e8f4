import sharp from 'sharp';

const SIDE = 64;

/** Returns a JPEG that costs the image library next to nothing: what a request with it takes is the request's own. */
export function tinyImage(): Promise<Buffer> {
  return sharp({ create: { width: SIDE, height: SIDE, channels: 3, background: '#88a' } })
    .jpeg()
    .toBuffer();
}
