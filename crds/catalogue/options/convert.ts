import { z } from 'zod';

/** Options under `convert`; `page` and `dpi` apply to PDF input only. See docs/reference/options.md#convert. */
export const convertOptions = z.strictObject({
  to: z.string().min(1).optional().meta({ description: 'Target format; case ignored.' }),
  page: z.int().min(1).optional().meta({ description: 'Page to render, from 1; default 1.' }),
  dpi: z.int().min(36).max(600).optional().meta({ description: 'Resolution of the rendered page; default 144.' }),
});
