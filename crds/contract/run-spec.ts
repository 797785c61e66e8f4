/**
 * Messages of an attempt: RunSpec (input), RunOutcome (result), heartbeat, outcome report, poll of a standby. The worker
 * receives a RunSpec as JSON: over a socket pair on one machine, in the response to the request of a standby pod, or in
 * another pod as an environment variable and, for secrets, files of the job's Secret. It writes a RunOutcome as JSON of
 * at most 4,096 bytes to its termination file. An exit without an outcome is a lost attempt.
 */
import { z } from 'zod';
import { jobErrorSchema, workerReportSchema, type JobTicket } from '#crds/contract/media-job.ts';
import { TERMINATION_BYTES } from '#crds/contract/run-files.ts';
import { PLAIN_TEXT } from '#crds/process/plain-text.ts';
import { untrustedReportSchema } from '#crds/contract/untrusted-report.ts';
import { workOrderSchema } from '#crds/contract/work-order.ts';

export const runSpecSchema = z.object({
  jobId: z.string(),
  attempt: z.int().min(1),
  ...workOrderSchema.shape,
  /** Remaining processing time of the job at the start of the work, in seconds. */
  timeoutSeconds: z.int().min(1),
  /** Nonce of the MediaJob, which fences its attempts from those of an earlier one. */
  dispatch: z.string(),
  /** Stored input. `etag` is sent as If-Match, so that the response for an overwritten upload is 412. */
  input: z.object({ etag: z.string(), size: z.int().nullable() }),
  /** Target of heartbeats: POST `HeartbeatBody` with `Authorization: Bearer <token>`. */
  heartbeat: z.object({ url: z.url(), token: z.string(), intervalSeconds: z.number() }),
  /** true: the outcome contains the times of the phases. */
  isTraced: z.literal(true).optional(),
});
export type RunSpec = z.infer<typeof runSpecSchema>;

/** Run that is sent to a worker process of this machine. */
export interface RunMessage {
  /** Private directory of the run. */
  readonly directory: string;
  /** Opaque identifier of the account, in live and test mode. */
  readonly tenant: string;
  readonly spec: RunSpec;
}

/** Public part of a RunSpec, visible in Kubernetes Jobs. */
export type OpenRunSpec = Omit<RunSpec, 'filename' | 'dispatch' | 'input' | 'heartbeat'> & {
  readonly input: Pick<RunSpec['input'], 'size'>;
  readonly heartbeat: Omit<RunSpec['heartbeat'], 'token'>;
};

/**
 * Returns the RunSpec of an attempt, completed from the job's ticket.
 * @throws Error when the ticket lacks the input or that attempt's token.
 */
export function completeRunSpec(open: OpenRunSpec, ticket: JobTicket): RunSpec {
  const token = ticket.heartbeatTokens[open.attempt - 1];
  if (ticket.inputEtag === null) throw new Error(`The ticket of ${open.jobId} has no input.`);
  if (token === undefined) throw new Error(`The ticket of ${open.jobId} has no token for attempt ${open.attempt}.`);
  return {
    ...open,
    filename: ticket.filename,
    dispatch: ticket.dispatch,
    input: { ...open.input, etag: ticket.inputEtag },
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

/** Report of an outcome, before the end of the pod reports it. */
export const outcomeReportSchema = z.object({
  jobId: z.string(),
  attempt: z.int().min(1),
  /** Nonce of the MediaJob. */
  dispatch: z.string(),
  /** Text of the termination file. */
  outcome: z.string().max(TERMINATION_BYTES),
});
export type OutcomeReport = z.infer<typeof outcomeReportSchema>;

/** Request of a standby for a run. `finished`: the attempt that it has performed before. */
export const standbyPollSchema = z.object({
  finished: z.object({ jobId: z.string(), attempt: z.int().min(1) }).nullable(),
});
export type AttemptId = NonNullable<z.infer<typeof standbyPollSchema>['finished']>;

/** Longest time of a phase, in milliseconds: more than an attempt lasts. */
const MAX_PHASE_MS = 86_400_000;
const phaseMs = z.int().min(0).max(MAX_PHASE_MS);
const workPhaseSchema = z.strictObject({
  phase: z.enum(['fetch', 'process', 'upload']),
  /** Milliseconds after the first heartbeat was sent. */
  startMs: phaseMs,
  endMs: phaseMs,
});
export type WorkPhase = z.infer<typeof workPhaseSchema>;

/** Phases of an attempt in their order; the last one has failed when the attempt has. Absent without `isTraced`. */
const phases = z.array(workPhaseSchema).max(3).optional();

export const runOutcomeSchema = z.discriminatedUnion('outcome', [
  z.object({ outcome: z.literal('succeeded'), report: workerReportSchema, phases }),
  z.object({ outcome: z.literal('failed'), error: jobErrorSchema, phases }),
]);
export type RunOutcome = z.infer<typeof runOutcomeSchema>;

/** Schema of an outcome of an untrusted process, which decodes callers' files. */
const untrustedOutcomeSchema: z.ZodType<RunOutcome> = z.discriminatedUnion('outcome', [
  z.strictObject({ outcome: z.literal('succeeded'), report: untrustedReportSchema, phases }),
  z.strictObject({
    outcome: z.literal('failed'),
    error: z.strictObject({ ...jobErrorSchema.shape, message: z.string().max(1000).regex(PLAIN_TEXT) }),
    phases,
  }),
]);

/**
 * Parses the outcome in a termination file or message; returns null for any other text. A compromised worker controls
 * the text, so it is limited in size, to known fields and to printable characters.
 */
export function parseRunOutcome(text: string): RunOutcome | null {
  if (Buffer.byteLength(text) > TERMINATION_BYTES) return null;
  try {
    return untrustedOutcomeSchema.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}
