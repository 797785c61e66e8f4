import { z } from 'zod';

/**
 * Schema of a file size in bytes: a whole number above 0. Numbers above `Number.MAX_SAFE_INTEGER` are accepted here and
 * refused as too large by the limits.
 */
export const fileSize = z
  .number()
  .positive()
  .refine((size) => Number.isInteger(size), 'not a whole number')
  .meta({ type: 'integer', description: 'Bytes.' });
