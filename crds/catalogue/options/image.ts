import { z } from 'zod';

export const RESIZE_MODES = ['fit', 'fill', 'width', 'height'] as const;

/** Range of the sides of the resize box, in pixels. Sides outside it are clamped. */
export const RESIZE_SIDE = { min: 100, max: 9999, default: 2000 } as const;

const side = z.int().min(1).max(32_768).optional().meta({
  description: 'Side of the box in pixels, default 2000; values outside 100 to 9999 are moved into that range.',
});

/** Options under `image`: docs/reference/options.md#image. */
export const imageOptions = z.strictObject({
  format: z
    .enum(['original', 'jpg', 'png', 'webp', 'avif', 'heic', 'gif'])
    .optional()
    .meta({ description: 'Output format, default `original`: the format of the input.' }),
  quality: z
    .int()
    .min(0)
    .max(100)
    .optional()
    .meta({ description: 'Default 75. Similarity to the input, the same for all formats.' }),
  resize: z
    .union([
      z.boolean(),
      z.strictObject({
        mode: z.enum(RESIZE_MODES).optional().meta({
          description: 'fit (default) shrinks into the box, fill covers and crops, width and height shrink one side.',
        }),
        width: side,
        height: side,
      }),
    ])
    .optional()
    .meta({ description: 'Default true; false keeps the dimensions; an object turns it on.' }),
  strip_metadata: z
    .boolean()
    .optional()
    .meta({ description: 'Default true: removes camera, location and software details. Not applied to PNG output.' }),
});
