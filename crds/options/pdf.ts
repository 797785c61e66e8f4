import { z } from 'zod';

/** Options under `pdf`. Spec: POST /v1/compress. */
export const pdfOptions = z.strictObject({
  quality: z
    .enum(['tiny', 'small', 'medium', 'large', 'original'])
    .optional()
    .meta({ description: 'Default `medium`; `original` changes no image.' }),
});
