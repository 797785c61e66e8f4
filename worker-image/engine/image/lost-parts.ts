import type { Facts, Work } from '#worker-image/engine/handler.ts';
import { GAIN_MAP_WARNING, hasGainMap } from '#worker-image/engine/image/gain-map.ts';
import { TARGETS, type ImageTarget } from '#worker-image/engine/image/image-formats.ts';
import type { OpenImage } from '#worker-image/engine/image/open-image.ts';

interface Passage {
  readonly input: Work['input'];
  readonly facts: Facts;
  readonly target: ImageTarget;
  readonly image: OpenImage;
}

/** Warnings for what the input holds and the output does not: frames, pages, a gain map. Spec: POST /v1/convert, rule 3. */
export async function lostParts(passage: Passage): Promise<string[]> {
  return [...lostFrames(passage), ...((await hasGainMap(passage.input)) ? [GAIN_MAP_WARNING] : [])];
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
