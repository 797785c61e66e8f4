/**
 * What one attempt gets and gives back. The worker gets a RunSpec as JSON: a file in the run's private
 * directory, or in a pod an environment variable and, for what is secret, files of the job's Secret. It writes
 * a RunOutcome as JSON of at most 4,096 bytes to its termination file. An exit without an outcome is a lost attempt.
 */
import { z } from 'zod';
import { OPERATIONS } from '#crds/formats.ts';
import {
  featuresSchema,
  fileLimitsSchema,
  jobErrorSchema,
  outputTargetSchema,
  workerReportSchema,
  type JobTicket,
} from '#crds/media-job.ts';
import { resolvedOptionsSchema } from '#crds/options/options.ts';
import { TERMINATION_BYTES } from '#crds/run-files.ts';

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

/** The part of a RunSpec that whoever sees Jobs may see. */
export type OpenRunSpec = Omit<RunSpec, 'filename' | 'input' | 'output' | 'heartbeat'> & {
  readonly input: Pick<RunSpec['input'], 'size'>;
  readonly heartbeat: Omit<RunSpec['heartbeat'], 'token'>;
};

/**
 * The RunSpec of an attempt, with what of it is in the job's ticket.
 * @throws Error when the ticket lacks the input or that attempt's output.
 */
export function completeRunSpec(open: OpenRunSpec, ticket: JobTicket): RunSpec {
  const output = ticket.outputs[open.attempt - 1];
  const token = ticket.heartbeatTokens[open.attempt - 1];
  if (ticket.inputUrl === null) throw new Error(`The ticket of ${open.jobId} has no input URL.`);
  if (output === undefined || token === undefined)
    throw new Error(`The ticket of ${open.jobId} has no output for attempt ${open.attempt}.`);
  return {
    ...open,
    filename: ticket.filename,
    input: { ...open.input, url: ticket.inputUrl, etag: ticket.inputEtag },
    output,
    heartbeat: { ...open.heartbeat, token },
  };
}

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

/** The outcome in the text of a termination file or message; null when it holds none. */
export function parseRunOutcome(text: string): RunOutcome | null {
  if (Buffer.byteLength(text) > TERMINATION_BYTES) return null;
  try {
    return runOutcomeSchema.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}

export { BETWEEN_FILES, RUN_SPEC, RUN_SPEC_FILE, TERMINATION_BYTES, TERMINATION_FILE } from '#crds/run-files.ts';
