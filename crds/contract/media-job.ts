/**
 * MediaJob: a short-lived object for a job's row in PostgreSQL, and the only object that API side and controller share.
 * It contains no file name, URL, secret or caller text. File name and tokens are in the job's Secret (`JobTicket`); URLs are
 * signed on request (`transfer-urls.ts`).
 *
 *   (created) → Pending ──→ Running ──→ Succeeded
 *                │   ↑         │ │
 *                │   └─ lost ──┘ │
 *                └───────────────┴────→ Failed
 *
 * The API side writes `spec` once. When a fetched input is stored, it also sets `inputSize` and `kind`, and `suspend` to
 * false. The controller alone writes `status`. Final phases never change, `attempt` never decreases.
 */
import { z } from 'zod';
import { isErrorCode, type ErrorCode } from '#crds/contract/error-codes.ts';
import { KINDS } from '#crds/catalogue/formats.ts';
import { LIMITS } from '#crds/catalogue/plans.ts';
import { PHASES, REASONS } from '#crds/contract/names.ts';
import { engineResultSchema } from '#crds/contract/result.ts';
import { unnamedWorkOrderSchema } from '#crds/contract/work-order.ts';

const timestamp = z.iso.datetime();

// The CRD lists the operation before the other fields.
const { operation, ...otherOrderFields } = unnamedWorkOrderSchema.shape;

export const mediaJobSpecSchema = z.object({
  jobId: z.string().regex(/^job_[0-9a-z]{20}$/),
  account: z.string().max(63).meta({ description: 'Account id, for fair scheduling and labels.' }),
  operation,
  kind: z.enum(KINDS).nullable().meta({ description: 'Kind by the file name. The content decides.' }),
  inputSize: z.int().min(0).nullable().meta({ description: 'Bytes; null until the input is stored.' }),
  ...otherOrderFields,
  secretName: z.string().max(253),
  firstAttempt: z
    .int()
    .min(1)
    .max(LIMITS.jobAttempts + LIMITS.jobDisruptions + 1)
    .meta({ description: 'Above 1 when an earlier MediaJob of this job was lost.' }),
  disruptions: z.int().min(0).nullable().meta({ description: 'Disruptions under earlier MediaJobs of this job.' }),
  startedAt: timestamp
    .nullable()
    .meta({ description: 'First heartbeat under an earlier MediaJob; null when the job never ran.' }),
  waitUntil: timestamp.meta({ description: 'Latest time at which a job that has not started fails with timeout.' }),
  suspend: z.boolean().meta({ description: 'true while the input is being fetched.' }),
});

export const jobErrorSchema = z.object({
  code: z.custom<ErrorCode>((text) => typeof text === 'string' && isErrorCode(text)),
  message: z.string().max(1000),
});

export const workerReportSchema = z.object({
  result: engineResultSchema,
  /** In hexadecimal. */
  inputSha256: z.string(),
  /** In hexadecimal. */
  outputSha256: z.string(),
  /** Versions by name of the tool. */
  tools: z.record(z.string(), z.string()),
  image: z.string().optional().meta({ description: 'Container image of the worker; absent where there is none.' }),
});
export type WorkerReport = z.infer<typeof workerReportSchema>;

export const mediaJobStatusSchema = z.object({
  phase: z.enum(PHASES),
  attempt: z.int().min(0).meta({ description: 'Number of the current or last attempt; 0 before the first.' }),
  disruptions: z
    .int()
    .min(0)
    .nullable()
    .meta({
      description: `Attempts lost by evictions, preemptions and node drains. The first ${LIMITS.jobDisruptions} are not counted.`,
    }),
  percent: z.int().min(0).max(100),
  startedAt: timestamp.nullable().meta({ description: "First heartbeat of the job's first attempt." }),
  completedAt: timestamp.nullable(),
  reason: z.enum(REASONS).nullable(),
  message: z.string().max(1000).nullable(),
  node: z.string().nullable(),
  report: workerReportSchema.nullable().meta({ description: 'Set with phase Succeeded.' }),
  error: jobErrorSchema.nullable().meta({ description: 'Set with phase Failed.' }),
});

export type MediaJobSpec = z.infer<typeof mediaJobSpecSchema>;
export type MediaJobStatus = z.infer<typeof mediaJobStatusSchema>;

export interface MediaJob {
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly creationTimestamp: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec: MediaJobSpec;
  /** Absent until the controller has seen it. */
  readonly status?: MediaJobStatus;
}

/** Returns true for a status with a final phase. */
export function isFinal(status: MediaJobStatus | undefined): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed';
}

/** Returns true when a status may follow another: final ones never change, `attempt` never decreases. */
export function mayFollow(old: MediaJobStatus | undefined, next: MediaJobStatus): boolean {
  return !isFinal(old) && next.attempt >= (old?.attempt ?? 0);
}

/**
 * Content of the job's Secret: the caller's file name and the tokens of the attempts, with which their workers send
 * heartbeats and request signed URLs (`transfer-urls.ts`).
 */
export const jobTicketSchema = z.object({
  dispatch: z.string().meta({ description: 'Nonce of this MediaJob.' }),
  inputEtag: z.string().nullable().meta({ description: 'null until the input is stored.' }),
  filename: z.string().nullable(),
  heartbeatTokens: z.array(z.string()).meta({ description: 'One per attempt; index 0 is attempt 1.' }),
});
export type JobTicket = z.infer<typeof jobTicketSchema>;
