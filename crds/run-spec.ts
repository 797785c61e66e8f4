/**
 * What one attempt gets and gives back. The controller writes a RunSpec as a JSON file (mounted from a
 * Secret, or in the run's private directory); the worker writes a RunOutcome as JSON of at most 4,096
 * bytes to its termination file. An exit without an outcome is a lost attempt.
 */
import { z } from 'zod';
import { OPERATIONS } from '#crds/formats.ts';
import {
  featuresSchema,
  fileLimitsSchema,
  jobErrorSchema,
  outputTargetSchema,
  workerReportSchema,
} from '#crds/media-job.ts';
import { resolvedOptionsSchema } from '#crds/options/options.ts';

export const runSpecSchema = z.object({
  jobId: z.string(),
  attempt: z.int().min(1),
  operation: z.enum(OPERATIONS),
  options: resolvedOptionsSchema,
  limits: fileLimitsSchema,
  features: featuresSchema,
  /** Seconds from the start of the work to the end of the job's time. */
  timeoutSeconds: z.int().min(1),
  filename: z.string().nullable(),
  /** `etag` is sent as If-Match, so that an overwritten upload answers 412. */
  input: z.object({ url: z.url(), etag: z.string().nullable(), size: z.int().nullable() }),
  output: outputTargetSchema,
  /** POST `HeartbeatBody` with `Authorization: Bearer <token>`. */
  heartbeat: z.object({ url: z.url(), token: z.string(), intervalSeconds: z.number() }),
});
export type RunSpec = z.infer<typeof runSpecSchema>;

export const heartbeatBodySchema = z.object({
  jobId: z.string(),
  attempt: z.int(),
  /** 0 to 99. */
  percent: z.int().min(0).max(99),
});
export type HeartbeatBody = z.infer<typeof heartbeatBodySchema>;

export const runOutcomeSchema = z.discriminatedUnion('outcome', [
  z.object({ outcome: z.literal('succeeded'), report: workerReportSchema }),
  z.object({ outcome: z.literal('failed'), error: jobErrorSchema }),
]);
export type RunOutcome = z.infer<typeof runOutcomeSchema>;

export { RUN_SPEC_FILE, TERMINATION_BYTES, TERMINATION_FILE } from '#crds/run-files.ts';
