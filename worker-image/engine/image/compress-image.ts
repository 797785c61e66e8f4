/** Makes an image smaller. Spec: POST /v1/compress. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { EngineDeps, Facts, Produced, Work } from '#worker-image/engine/handler.ts';
import { encodeImage } from '#worker-image/engine/image/encode-image.ts';
import { isRaw, type ImageTarget } from '#worker-image/engine/image/image-formats.ts';
import { lostParts } from '#worker-image/engine/image/lost-parts.ts';
import { openImage, type OpenImage } from '#worker-image/engine/image/open-image.ts';
import { readImageFacts } from '#worker-image/engine/image/read-image-facts.ts';
import { recompressAnimatedPng } from '#worker-image/engine/image/recompress-png.ts';

const ANIMATED_PNG_WARNING = 'An animated PNG keeps its size and its exact pixels: its frames are only packed tighter.';
/** RGBA of 16 bits, and room for the filter byte of each row. */
const MAX_PIXEL_BYTES = 9;

/**
 * Encodes the picture anew in the wanted size and format. Whether the result is small enough to be given
 * is the pipeline's to decide.
 * @throws MediaError processing_failed, limit_exceeded.
 */
export async function compressImage(deps: EngineDeps, work: Work, facts: Facts): Promise<Produced> {
  if (isAnimatedPng(work, facts)) return compressAnimatedPng(work, facts);
  const { image: options } = work.options;
  const image = await openImage(deps, work, facts);
  deps.onProgress(30);
  const target = options.format === 'original' ? originalTarget(work, image) : options.format;
  const path = await encodeImage(deps, {
    work,
    facts,
    image,
    target,
    quality: options.quality,
    lossless: false,
    resize: options.resize,
    keepMetadata: !options.strip_metadata || target === 'png',
  });
  deps.onProgress(90);
  const written = await readImageFacts(deps, { path, format: target, directory: work.directory });
  return {
    path,
    format: target,
    facts: written,
    warnings: await lostParts({ input: work.input, facts, target, image }),
  };
}

function isAnimatedPng({ input, options }: Work, facts: Facts): boolean {
  const { format } = options.image;
  return input.format === 'png' && (facts.frames ?? 1) > 1 && (format === 'original' || format === 'png');
}

/** The image library takes an animated PNG for its first frame. */
async function compressAnimatedPng({ input, directory, limits }: Work, facts: Facts): Promise<Produced> {
  const path = join(directory, 'out.png');
  await writeFile(path, recompressAnimatedPng(await readFile(input.path), limits.maxPixels * MAX_PIXEL_BYTES));
  return { path, format: 'png', facts, warnings: [ANIMATED_PNG_WARNING] };
}

/** Formats that are not written back become the one that suits their content. */
function originalTarget({ input }: Work, { isDrawn }: OpenImage): ImageTarget {
  if (isRaw(input.format)) return 'jpg';
  if (input.format !== 'tiff' && input.format !== 'bmp') return input.format as ImageTarget;
  return isDrawn ? 'png' : 'jpg';
}
