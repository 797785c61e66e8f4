/** The size of the output picture. Spec: image.resize. */
import type { Sharp } from 'sharp';
import type { ResolvedOptions } from '#crds/options/options.ts';

export type Resize = ResolvedOptions['image']['resize'];

export interface Size {
  readonly width: number;
  readonly height: number;
}

/**
 * Adds the resize to a pipeline. fit, width and height only ever shrink; fill gives exactly the box,
 * enlarging a picture that does not cover it.
 */
export function resizeImage(pipeline: Sharp, resize: Resize): Sharp {
  if (resize === null) return pipeline;
  const { mode, width, height } = resize;
  switch (mode) {
    case 'fit':
      return pipeline.resize({ width, height, fit: 'inside', withoutEnlargement: true });
    case 'fill':
      return pipeline.resize({ width, height, fit: 'cover' });
    case 'width':
      return pipeline.resize({ width, withoutEnlargement: true });
    case 'height':
      return pipeline.resize({ height, withoutEnlargement: true });
  }
}

/** What size comes out, to within a pixel of rounding. */
export function resizedSize(input: Size, resize: Resize): Size {
  if (resize === null) return input;
  if (resize.mode === 'fill') return { width: resize.width, height: resize.height };
  const scale = Math.min(
    1,
    resize.mode === 'height' ? 1 : resize.width / input.width,
    resize.mode === 'width' ? 1 : resize.height / input.height,
  );
  return { width: Math.max(1, Math.round(input.width * scale)), height: Math.max(1, Math.round(input.height * scale)) };
}
