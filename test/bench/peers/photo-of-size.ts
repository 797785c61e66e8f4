import sharp from 'sharp';
import { wholePicture } from '#test/bench/calibration-set.ts';
import type { Bench } from './row.ts';

const SIDE_OF_A_MEGAPIXEL = { width: 4000 / Math.sqrt(12), height: 3000 / Math.sqrt(12) };

/** Returns a photo of that many megapixels, 4:3, as a JPEG. */
export async function photoOf({ cache }: Pick<Bench, 'cache'>, megapixels: number): Promise<Buffer> {
  const [width = 0, height = 0] = Object.values(SIDE_OF_A_MEGAPIXEL).map((side) =>
    Math.round(side * Math.sqrt(megapixels)),
  );
  const whole = await wholePicture(cache, 'sunset_by_Aitzol_Berasategi.jpg');
  return sharp(whole).resize(width, height, { fit: 'cover' }).jpeg({ quality: 92 }).toBuffer();
}
