/** Prediction of the engine's output for a file that is known by its name and its figures alone. */
import { FORMATS, type Format, type Kind } from '#crds/catalogue/formats.ts';
import type { WorkOrder } from '#crds/contract/work-order.ts';

export interface ExpectedWork extends Pick<WorkOrder, 'operation' | 'options'> {
  readonly kind: Kind;
  /** Format of the file's extension. */
  readonly inputFormat: Format;
}

interface FrameSize {
  /** In pixels. */
  readonly width: number;
  /** In pixels. */
  readonly height: number;
}

/** Maximum long side of the web tier, in pixels. */
const WEB_LONG_SIDE = 1920;

/** Returns true when the output format depends on the pixels: TIFF and BMP become PNG or JPEG. */
export function dependsOnPixels({ operation, kind, inputFormat, options }: ExpectedWork): boolean {
  const isOriginal = operation === 'compress' && kind === 'image' && options.image.format === 'original';
  return isOriginal && FORMATS[inputFormat].compressedAs === 'jpg or png';
}

/** Returns the frame size that the engine encodes: even sides, never enlarged. Convert keeps the input's size. */
export function expectedFrameSize({ operation, options }: ExpectedWork, { width, height }: FrameSize): FrameSize {
  const { resolution, quality } = options.video;
  const bound = quality === 'web' ? Math.min(resolution ?? WEB_LONG_SIDE, WEB_LONG_SIDE) : resolution;
  const factor = operation !== 'compress' || bound === null ? 1 : Math.min(1, bound / Math.max(width, height));
  if (factor === 1) return { width, height };
  const even = (side: number): number => Math.max(2, Math.round((side * factor) / 2) * 2);
  return { width: even(width), height: even(height) };
}

/** Returns the codec of the expected video. In a conversion the target format decides it. */
export function expectedCodec({ operation, options }: ExpectedWork): string {
  return operation === 'convert' && options.convert.to === 'webm' ? 'vp9' : options.video.codec;
}
