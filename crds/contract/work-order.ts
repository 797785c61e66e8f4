/** Work order of one file: part of a MediaJob, a run or a direct request. */
import { z } from 'zod';
import { OPERATIONS } from '#crds/catalogue/formats.ts';
import { resolvedOptionsSchema } from '#crds/catalogue/options/options.ts';
import type { FileLimits } from '#crds/catalogue/plans.ts';

const fileLimitsSchema = z.object({
  maxPixels: z.int().min(1).meta({ description: 'Width times height of an image or a video frame.' }),
  maxPages: z.int().min(1),
  maxFrames: z.int().min(1),
  maxSeconds: z.int().min(1).meta({ description: 'Length of audio and video.' }),
}) satisfies z.ZodType<FileLimits>;

const featuresSchema = z.object({ video: z.boolean(), heicOutput: z.boolean() });
export type Features = z.infer<typeof featuresSchema>;

export const workOrderSchema = z.object({
  operation: z.enum(OPERATIONS),
  options: resolvedOptionsSchema,
  limits: fileLimitsSchema,
  features: featuresSchema,
  /** File name of the caller: distinguishes formats that the content does not. */
  filename: z.string().nullable(),
});
export type WorkOrder = z.infer<typeof workOrderSchema>;

/** Work order without the caller's file name, which a MediaJob must not contain. */
export const unnamedWorkOrderSchema = workOrderSchema.omit({ filename: true });
export type UnnamedWorkOrder = z.infer<typeof unnamedWorkOrderSchema>;

/** Returns the work order in a larger object, without its other fields. */
export function unnamedWorkOrder({ operation, options, limits, features }: UnnamedWorkOrder): UnnamedWorkOrder {
  return { operation, options, limits, features };
}
