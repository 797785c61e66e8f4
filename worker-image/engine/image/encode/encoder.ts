/** The contract between `encode-image.ts` and the encoder of each format. */
import type { Sharp } from 'sharp';
import type { EngineDeps } from '#worker-image/engine/handler.ts';
import type { WrittenFile } from '#worker-image/engine/written-file.ts';
import type { ImageSize, Picture, PixelSource } from '#worker-image/engine/image/picture.ts';

export type EncoderDeps = Pick<EngineDeps, 'run' | 'signal'>;

/** What an encoder writes, and where. */
export interface Output {
  readonly picture: Picture;
  readonly source: PixelSource;
  /** Starts a new pipeline on the pixels: resized, in the output's color space, with what metadata it keeps. */
  readonly pipeline: () => Sharp;
  readonly path: string;
  /** 0 to 100 on the service's scale. */
  readonly quality: number;
  /** Formats that can keep every sample do. */
  readonly lossless: boolean;
  /** Size of one frame, in pixels. */
  readonly size: ImageSize;
  /** True when more than 8 bits per sample are written. */
  readonly isDeep: boolean;
  /** ICC profile of the input's samples when they need no conversion; null otherwise. */
  readonly keptProfile: Buffer | null;
}

/**
 * Writes the output. Resolves with what was written; null where a library wrote the file itself.
 * @throws Error when the pixels cannot be decoded.
 */
export type Encoder = (deps: EncoderDeps, output: Output) => Promise<WrittenFile | null>;
