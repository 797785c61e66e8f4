/** An image file whose headers were read once, for all later steps: encode, warn, carry EXIF over, verify. */
import type { Metadata, Sharp } from 'sharp';
import type { Format } from '#crds/catalogue/formats.ts';
import type { EngineDeps, Facts, Produced } from '#worker-image/engine/handler.ts';
import type { CarriedExif } from '#worker-image/engine/image/carried-exif.ts';

export interface ImageSize {
  readonly width: number;
  readonly height: number;
}

/** The facts of an image, with the picture that later steps work on; `frames` is 1 for a still one. */
export interface ImageFacts extends Facts {
  readonly width: number;
  readonly height: number;
  readonly frames: number;
  readonly picture: Picture;
}

/** A produced image, opened once; a PDF has no picture. */
export type ProducedImage = Produced<Facts & { readonly picture?: Picture }>;

export interface ImageFile {
  readonly path: string;
  readonly format: Format;
  /** Private directory for tools and readable copies. */
  readonly directory: string;
  /** Limit of the decoded size of one frame, in pixels. */
  readonly maxPixels: number;
}

/** Programs that decode what libvips does not. */
export type DecoderDeps = Pick<EngineDeps, 'run' | 'signal'>;

/** Reads the headers of a file; decodes nothing. @throws MediaError processing_failed when they cannot be read. */
export type ImageLoader = (deps: DecoderDeps, file: ImageFile) => Promise<Picture>;

/** An image file as its loader describes it. Only the loader depends on how the format is read. */
export interface Picture {
  readonly file: ImageFile;
  /** Size as shown, orientation applied, in pixels. */
  readonly size: ImageSize;
  /** Frames of an animated image, 1 for a still one. */
  readonly frames: number;
  /** True for formats whose encoders usually discard details: an exact copy of the pixels would be large. */
  readonly isLossy: boolean;
  /** A flaw of the file that the caller is informed of. */
  readonly warning: string | null;
  /** True when the pixels are of high dynamic range, which results do not have. */
  readonly isHdr?: boolean;
  /** Null for a format whose animation sharp does not read. */
  readonly animation: Animation | null;
  /**
   * Makes the pixels readable for sharp, with another decoder where libvips does not read them.
   * @throws MediaError processing_failed when the file cannot be decoded.
   */
  decode(deps: DecoderDeps): Promise<PixelSource>;
  /**
   * Decodes the file to its end, or the first frame of an animation, and drops the pixels. @throws Error when it is damaged.
   */
  verify(deps: DecoderDeps, part?: 'first frame'): Promise<void>;
  /** Returns camera, location and software details. Absent where libvips decodes the file, which keeps them. */
  readExif?(): Promise<CarriedExif>;
  /** Returns whether the file holds a gain map for screens of high dynamic range. Absent for formats without them. */
  hasGainMap?(): Promise<boolean>;
  /** Returns whether the file is a motion photo, which holds a short video. Absent for formats without them. */
  hasMotionVideo?(): Promise<boolean>;
}

export interface Animation {
  /** Time that each frame is shown, in milliseconds. */
  readonly delays: readonly number[];
  readonly frames: number;
  /** Returns whether all frames look the same at thumbnail size. */
  isStill(): Promise<boolean>;
}

/** Pixels per inch. */
export interface Resolution {
  readonly x: number;
  readonly y: number;
}

/** Pixels that sharp reads. */
export interface PixelSource {
  readonly metadata: Metadata;
  /** Size as decoded, orientation applied, in pixels. */
  readonly size: ImageSize;
  /** Frames that sharp reads. */
  readonly frames: number;
  /** Pages of a document such as a TIFF; only the first one is decoded. */
  readonly pages: number;
  /** Resolution of each axis as shown; absent where only `metadata` may have one. */
  readonly resolution?: Resolution | undefined;
  /** Warnings about what the file holds and the pixels do not. */
  readonly warnings?: readonly string[];
  /** True for images with transparency or few colors, which were drawn rather than photographed. */
  readonly isDrawn: boolean;
  /** Starts a pipeline on the pixels as shown; `animated` reads all frames instead of the first. */
  start(how: { animated: boolean; keepProfile: boolean }): Sharp;
}
