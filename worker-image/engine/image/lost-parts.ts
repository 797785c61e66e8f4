import type { Facts, Work } from '#worker-image/engine/handler.ts';
import { GAIN_MAP_WARNING, hasGainMap } from '#worker-image/engine/image/gain-map.ts';
import { TARGETS, type ImageTarget } from '#worker-image/engine/image/image-formats.ts';
import { imageStep } from '#worker-image/engine/image/image-step.ts';
import type { OpenImage } from '#worker-image/engine/image/open-image.ts';

interface Passage {
  readonly input: Work['input'];
  readonly facts: Facts;
  readonly target: ImageTarget;
  readonly image: OpenImage;
}

/**
 * Warnings for what the input holds and the output does not: frames, pages, soft transparency, a gain map.
 * Spec: POST /v1/convert, rule 3.
 * @throws MediaError processing_failed when the input cannot be decoded.
 */
export async function lostParts(passage: Passage): Promise<string[]> {
  return [
    ...lostFrames(passage),
    ...((await losesSoftness(passage)) ? [SOFTNESS_WARNING] : []),
    ...((await hasGainMap(passage.input)) ? [GAIN_MAP_WARNING] : []),
  ];
}

const SOFTNESS_WARNING =
  'The picture is partly transparent, and a GIF holds no such pixels: the fainter half of them became fully transparent, the others opaque. Choose png or webp to keep them.';
/** So many pixels on a side are looked at, spread over each frame. */
const LOOKED_AT = 256;

async function losesSoftness({ input, target, image }: Passage): Promise<boolean> {
  if (target !== 'gif' || input.format === 'gif' || !image.metadata.hasAlpha) return false;
  const opacity = await imageStep('Reading the image', () =>
    image
      .start({ animated: true, keepProfile: true })
      // Pixels as they are: without this the library would have a WebP read smaller, with its edges softened.
      .pipelineColourspace('srgb')
      .resize({ width: LOOKED_AT, height: LOOKED_AT, fit: 'inside', kernel: 'nearest', withoutEnlargement: true })
      .ensureAlpha()
      .extractChannel('alpha')
      .raw({ depth: 'uchar' })
      .toBuffer(),
  );
  return opacity.some((value) => value > 0 && value < 255);
}

function lostFrames({ input, facts, target, image }: Passage): string[] {
  const { name, animated } = TARGETS[target];
  const frames = facts.frames ?? 1;
  if (frames > 1 && !(animated && image.frames > 1)) {
    return [
      `The picture is animated and its ${frames} frames cannot all be kept in the ${name} file: only the first one was used.`,
    ];
  }
  const pages = input.format === 'tiff' ? (image.metadata.pages ?? 1) : 1;
  if (pages > 1) return [`The TIFF holds ${pages} pages: only the first one was used.`];
  return [];
}
