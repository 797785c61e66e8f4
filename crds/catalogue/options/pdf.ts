import { z } from 'zod';

/** Options under `pdf`: docs/reference/options.md#pdf. */
export const pdfOptions = z.strictObject({
  quality: z
    .enum(['tiny', 'small', 'medium', 'large', 'original'])
    .optional()
    .meta({ description: 'Default `medium`; `original` keeps the images.' }),
});
