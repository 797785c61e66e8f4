/** A still image that was decoded once: from its samples it is classified, reduced to a palette and compared. */
import type { Sharp } from 'sharp';
import { readPngChunks, type PngChunk } from '#worker-image/engine/containers/png-chunks.ts';
import type { Output } from '#worker-image/engine/image/encode/encoder.ts';
import {
  classifyImage,
  classifySamples,
  hasFullChroma,
  type ImageContent,
} from '#worker-image/engine/image/encode/quality-scale.ts';
import { sharp } from '#worker-image/engine/image/libvips-picture.ts';
import type { ImageSize } from '#worker-image/engine/image/picture.ts';

export interface DecodedImage {
  readonly size: ImageSize;
  /** RGBA samples of 8 bits. */
  readonly samples: Buffer;
  /** Chunks of a PNG with the metadata that the output keeps. */
  readonly metadata: readonly PngChunk[];
}

/** Maximum size of an image that is decoded to memory, in pixels: a screen of 3840 × 2160 takes 32 MiB. */
const MAX_PIXELS = 2 ** 23;

/**
 * Classifies an image. Returns a graphic's samples too, unless it is animated or larger than 8 megapixels.
 * @throws MediaError processing_failed when it cannot be decoded.
 */
export async function decodeAndClassify(
  output: Output,
): Promise<{ readonly content: ImageContent; readonly decoded: DecodedImage | null }> {
  const { source, size } = output;
  const isSmall = source.frames === 1 && size.width * size.height <= MAX_PIXELS;
  if (!isSmall || !hasFullChroma(source.metadata) || !hasSourceSamples(output)) {
    const content = await classifyImage(source);
    const decoded = isSmall && content === 'graphic' ? await withMetadata(output, await decodeSamples(output)) : null;
    return { content, decoded };
  }
  const samples = await decodeSamples(output);
  const content = classifySamples(samples, size);
  return { content, decoded: content === 'graphic' ? await withMetadata(output, samples) : null };
}

/** Returns whether the output has the samples of the input. Others say nothing about the input's content. */
function hasSourceSamples({ source, size, keptProfile }: Output): boolean {
  const { width, height } = source.size;
  return size.width === width && size.height === height && (source.metadata.icc === undefined || keptProfile !== null);
}

/** Samples of a pixel. */
const RGBA = 4;

/** Starts a pipeline on the samples. */
export function openSamples({ samples, size }: Pick<DecodedImage, 'samples' | 'size'>): Sharp {
  return sharp(samples, { raw: { ...size, channels: RGBA }, limitInputPixels: false });
}

/** Chunks whose form depends on the color type, or that hold no metadata. */
const PIXEL_CHUNKS: readonly string[] = ['IHDR', 'PLTE', 'tRNS', 'bKGD', 'sBIT', 'hIST', 'IDAT', 'IEND'];

function decodeSamples({ pipeline }: Output): Promise<Buffer> {
  return pipeline().toColourspace('srgb').ensureAlpha().raw({ depth: 'uchar' }).toBuffer();
}

async function withMetadata(output: Output, samples: Buffer): Promise<DecodedImage> {
  return { size: output.size, samples, metadata: await readMetadataChunks(output) };
}

/**
 * Returns the chunks with metadata as libvips writes them, from one pixel. libvips writes the size into EXIF: with EXIF the
 * pixel is extended to the image's size.
 */
async function readMetadataChunks({ pipeline, size }: Output): Promise<PngChunk[]> {
  const pixel = pipeline().extract({ left: 0, top: 0, width: 1, height: 1 });
  const chunks = await writeChunks(pixel);
  if (!chunks.some(({ type }) => type === 'eXIf')) return chunks;
  return writeChunks(pixel.extend({ right: size.width - 1, bottom: size.height - 1 }));
}

async function writeChunks(image: Sharp): Promise<PngChunk[]> {
  const chunks = readPngChunks(await image.png({ compressionLevel: 1 }).toBuffer()) ?? [];
  return chunks.filter(({ type }) => !PIXEL_CHUNKS.includes(type));
}
