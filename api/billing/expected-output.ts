/** What the engine will make of a file that is known by its name and figures alone. */
import { FORMATS, type Format, type Kind, type Operation } from '#crds/formats.ts';
import type { ResolvedOptions } from '#crds/options/options.ts';

export interface ExpectedWork {
  readonly operation: Operation;
  readonly kind: Kind;
  /** As the file's extension says. */
  readonly inputFormat: Format;
  readonly options: ResolvedOptions;
}

interface Picture {
  /** Pixels. */
  readonly width: number;
  readonly height: number;
}

/** Long side of the web tier: 1080p. */
const WEB_LONG_SIDE = 1920;

/** Where the content decides (a TIFF, BMP or M4A left at `original`), the more usual outcome. */
export function expectedFormat({ operation, kind, inputFormat, options }: ExpectedWork): Format {
  if (operation === 'strip_metadata') return inputFormat;
  if (operation === 'convert') return options.convert.to ?? inputFormat;
  switch (kind) {
    case 'image':
      return options.image.format === 'original' ? originalImage(inputFormat) : options.image.format;
    case 'audio':
      return options.audio.format === 'original' ? originalAudio(inputFormat) : options.audio.format;
    case 'video':
      return options.video.format;
    case 'pdf':
    case 'word':
    case 'sheet':
    case 'presentation':
    case 'table':
    case 'font':
      return inputFormat;
  }
}

/** TIFF and BMP become PNG only with transparency, a palette or one bit a pixel. */
export function dependsOnPixels({ operation, kind, inputFormat, options }: ExpectedWork): boolean {
  const isOriginal = operation === 'compress' && kind === 'image' && options.image.format === 'original';
  return isOriginal && (inputFormat === 'tiff' || inputFormat === 'bmp');
}

/** The picture that the engine writes: even sides, never enlarged. Convert keeps the input's size. */
export function expectedPicture({ operation, options }: ExpectedWork, { width, height }: Picture): Picture {
  const { resolution, quality } = options.video;
  const bound = quality === 'web' ? Math.min(resolution ?? WEB_LONG_SIDE, WEB_LONG_SIDE) : resolution;
  const factor = operation !== 'compress' || bound === null ? 1 : Math.min(1, bound / Math.max(width, height));
  if (factor === 1) return { width, height };
  const even = (side: number): number => Math.max(2, Math.round((side * factor) / 2) * 2);
  return { width: even(width), height: even(height) };
}

/** Spec: Estimate, "`video.codec`, `video.format` deciding the codec"; in a conversion the target stands for the format. */
export function expectedCodec({ operation, options }: ExpectedWork): string {
  return operation === 'convert' && options.convert.to === 'webm' ? 'vp9' : options.video.codec;
}

function originalImage(format: Format): Format {
  return FORMATS[format].raw === true || format === 'tiff' || format === 'bmp' ? 'jpg' : format;
}

function originalAudio(format: Format): Format {
  return format === 'wma' ? 'm4a' : format;
}
