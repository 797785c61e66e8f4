import type { Format } from '#crds/formats.ts';
import type { Facts } from '#worker-image/engine/handler.ts';
import { TARGETS, type ImageTarget } from '#worker-image/engine/image/image-formats.ts';
import type { OpenImage } from '#worker-image/engine/image/open-image.ts';

/** Warnings for frames or pages of the input that the output has no place for. Spec: POST /v1/convert, rule 3. */
export function lostParts(from: { input: Format; facts: Facts; target: ImageTarget; image: OpenImage }): string[] {
  const { input, facts, target, image } = from;
  const { name, animated } = TARGETS[target];
  const frames = facts.frames ?? 1;
  if (frames > 1 && !(animated && image.frames > 1)) {
    return [
      `The picture is animated and its ${frames} frames cannot all be kept in the ${name} file: only the first one was used.`,
    ];
  }
  const pages = input === 'tiff' ? (image.metadata.pages ?? 1) : 1;
  if (pages > 1) return [`The TIFF holds ${pages} pages: only the first one was used.`];
  return [];
}
