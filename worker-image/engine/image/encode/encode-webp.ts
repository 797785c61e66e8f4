import { rename, rm, stat } from 'node:fs/promises';
import type { Sharp, WebpOptions } from 'sharp';
import type { Encoder } from '#worker-image/engine/image/encode/encoder.ts';
import { lossyQuality, type LossyQuality } from '#worker-image/engine/image/encode/quality-scale.ts';
import { sharp } from '#worker-image/engine/image/libvips-picture.ts';

/** Maximum size of a graphic that is also encoded nearly losslessly, in pixels of all frames. Larger ones take seconds. */
const MAX_EXACT_PIXELS = 4_000_000;

type Coding = 'lossy' | 'exact';

/** Writes WebP. A graphic is written lossily or nearly losslessly, whichever file is smaller. */
export const encodeWebp: Encoder = async (_deps, { source, size, quality, pipeline, path }) => {
  const target = await lossyQuality(source, quality);
  const pixels = size.width * size.height * source.frames;
  const canBeExact = target.content === 'graphic' && pixels <= MAX_EXACT_PIXELS;
  const [coding, other] = canBeExact ? await chooseCodings(target, { pipeline, frames: source.frames }) : LOSSY;
  const settings = { lossy: webpSettings(target), exact: exactWebpSettings(target) };
  await pipeline().webp(settings[coding]).toFile(path);
  if (other === undefined) return;
  const alternative = `${path}.other`;
  await pipeline().webp(settings[other]).toFile(alternative);
  const [chosenSize, otherSize] = await Promise.all([stat(path), stat(alternative)]);
  await (otherSize.size < chosenSize.size ? rename(alternative, path) : rm(alternative));
};

type Codings = readonly [Coding, Coding?];
const LOSSY: Codings = ['lossy'];
const EXACT: Codings = ['exact'];
const BOTH: Codings = ['lossy', 'exact'];

/**
 * Ratio of the drafts' sizes, exact by lossy, at which the final files are equally large, and the factor around it within
 * which both codings are tried. Measured with 22 screenshots and drawings at seven qualities each: 0.75 and a factor of
 * 1.2 chose the smaller file in all cases.
 */
const EQUAL_DRAFTS = 1 / 0.75;
const UNSURE = 1.5;

/** Returns the codings that may give the smallest file of a graphic, from drafts at the lowest effort. */
async function chooseCodings(
  target: LossyQuality,
  { pipeline, frames }: { pipeline: () => Sharp; frames: number },
): Promise<Codings> {
  if (target.quality === 100) return EXACT;
  // Drafts of frames one by one would miss what they have in common.
  if (frames > 1) return BOTH;
  const { data, info } = await pipeline().raw({ depth: 'uchar' }).toBuffer({ resolveWithObject: true });
  const { width, height, channels } = info;
  const draftSize = async (settings: WebpOptions): Promise<number> => {
    const raw = { width, height, channels };
    const draft = sharp(data, { raw, limitInputPixels: false }).webp({ ...settings, smartSubsample: false, effort: 0 });
    return (await draft.toBuffer()).length;
  };
  const ratio = (await draftSize(exactWebpSettings(target))) / (await draftSize(webpSettings(target))) / EQUAL_DRAFTS;
  if (ratio > UNSURE) return LOSSY;
  return ratio < 1 / UNSURE ? EXACT : BOTH;
}

/** Returns the settings for WebP, which has no full chroma. Sharp subsampling keeps colored text readable, at twice the time. */
export function webpSettings({ content, encoders }: LossyQuality): WebpOptions {
  return { quality: encoders.webp, effort: 4, smartSubsample: content === 'graphic' };
}

/** Returns the second settings for a graphic: few colors and flat areas are often smaller when nearly lossless. */
export function exactWebpSettings({ quality }: Pick<LossyQuality, 'quality'>): WebpOptions {
  return quality === 100 ? { lossless: true, effort: 2 } : { nearLossless: true, quality: 60, effort: 2 };
}
