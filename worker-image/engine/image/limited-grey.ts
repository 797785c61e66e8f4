/** Grey AVIF with the samples of video, from 16 to 235: the image library spreads them in pictures of colours only. */
import type { Metadata, Sharp } from 'sharp';
import type { Format } from '#crds/formats.ts';
import { isLimitedGrey } from '#worker-image/engine/identify/iso-bmff.ts';
import { withSniffedFile } from '#worker-image/engine/identify/sniffed-file.ts';

const [BLACK, WHITE] = [16, 235];

/** What brings the samples of a picture to their full range; it leaves all others as they are. */
export async function greySpread(
  { path, format }: { path: string; format: Format },
  { depth }: Metadata,
): Promise<(pipeline: Sharp) => Sharp> {
  const isLimited = format === 'avif' && (await withSniffedFile({ path, filename: null }, isLimitedGrey));
  if (!isLimited) return (pipeline) => pipeline;
  const scale = 255 / (WHITE - BLACK);
  const offset = -BLACK * scale * (depth === 'ushort' ? 257 : 1);
  return (pipeline) => pipeline.linear(scale, offset);
}
