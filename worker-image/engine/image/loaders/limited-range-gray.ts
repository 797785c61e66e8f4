/** Gray AVIF with limited-range samples, from 16 to 235 as in video. libvips widens the range of color images only. */
import type { Metadata, Sharp } from 'sharp';

const [BLACK, WHITE] = [16, 235];

/** Adds a step that scales the samples from the limited to the full range. */
export function widenRange(pipeline: Sharp, { depth }: Pick<Metadata, 'depth'>): Sharp {
  const scale = 255 / (WHITE - BLACK);
  return pipeline.linear(scale, -BLACK * scale * (depth === 'ushort' ? 257 : 1));
}
