/**
 * The MediaJob: a short-lived ticket of a job's row in PostgreSQL, and the only thing that API side
 * and controller share. It names no file and holds no URL, no secret and no caller text: those are in
 * the job's Secret (`JobTicket`).
 *
 *   (created) → Pending → Running → Succeeded
 *                  ↑         │ ╲
 *                  └─ lost ──┘  → Failed
 *
 * The API side writes `spec` once (later only `suspend` from true to false); the controller alone
 * writes `status`. Final phases never change, `attempt` never falls.
 */
import { z } from 'zod';
import { isErrorCode, type ErrorCode } from '#crds/error-codes.ts';
import { KINDS, OPERATIONS } from '#crds/formats.ts';
import { PHASES, REASONS } from '#crds/names.ts';
import { resolvedOptionsSchema } from '#crds/options/options.ts';
import { engineResultSchema } from '#crds/result.ts';

const timestamp = z.iso.datetime();

export const fileLimitsSchema = z.object({
  maxPixels: z.int().min(1).meta({ description: 'Width times height of an image or a video frame.' }),
  maxPages: z.int().min(1),
  maxFrames: z.int().min(1),
  maxSeconds: z.int().min(1).meta({ description: 'Length of audio and video.' }),
});

export const featuresSchema = z.object({ video: z.boolean(), heicOutput: z.boolean() });
export type Features = z.infer<typeof featuresSchema>;

export const mediaJobSpecSchema = z.object({
  jobId: z.string().regex(/^job_[0-9a-z]{20}$/),
  account: z.string().max(63).meta({ description: 'Account id, for fair order and for labels.' }),
  operation: z.enum(OPERATIONS),
  kind: z.enum(KINDS).nullable().meta({ description: 'Guess from the file name; the content decides.' }),
  inputSize: z.int().min(0).nullable().meta({ description: 'Bytes; null until the input is stored.' }),
  options: resolvedOptionsSchema.extend({
    convert: resolvedOptionsSchema.shape.convert.extend({ to: z.string().nullable() }),
  }),
  limits: fileLimitsSchema,
  features: featuresSchema,
  secretName: z.string().max(253),
  firstAttempt: z.int().min(1).max(4).meta({ description: 'Above 1 when an earlier MediaJob of this job was lost.' }),
  startedAt: timestamp
    .nullable()
    .meta({ description: 'First heartbeat under an earlier MediaJob; null when the job never ran.' }),
  waitUntil: timestamp.meta({ description: 'When a job that has not started fails with timeout.' }),
  suspend: z.boolean().meta({ description: 'true while the input is being fetched.' }),
});

export const jobErrorSchema = z.object({
  code: z.custom<ErrorCode>((text) => typeof text === 'string' && isErrorCode(text)),
  message: z.string().max(1000),
});

export const workerReportSchema = z.object({
  result: engineResultSchema,
  /** Hex. */
  inputSha256: z.string(),
  outputSha256: z.string(),
  /** Tool name → version. */
  tools: z.record(z.string(), z.string()),
  image: z.string().optional().meta({ description: 'Container image of the worker; absent where there is none.' }),
});
export type WorkerReport = z.infer<typeof workerReportSchema>;

export const mediaJobStatusSchema = z.object({
  phase: z.enum(PHASES),
  attempt: z.int().min(0).meta({ description: 'Number of the current or last attempt; 0 before the first.' }),
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
  };
  readonly spec: MediaJobSpec;
  /** Absent until the controller has seen it. */
  readonly status?: MediaJobStatus;
}

export function isFinal(status: MediaJobStatus | undefined): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed';
}

/** Whether a status may come after another: final ones never change, `attempt` never falls. */
export function mayFollow(old: MediaJobStatus | undefined, next: MediaJobStatus): boolean {
  return !isFinal(old) && next.attempt >= (old?.attempt ?? 0);
}

/** Where an attempt puts its output: by PUT of `url`, or in parts when it is larger than one of them. */
export const outputTargetSchema = z.object({
  url: z.url(),
  /** null where one PUT takes any output of the job. */
  parts: z
    .object({
      /** Of each part but the last. */
      bytes: z.int().min(1),
      /** Each takes the PUT of one part, in their order, and answers its ETag. */
      urls: z.array(z.url()),
      /** Takes the POST of the parts' ETags as S3's CompleteMultipartUpload. */
      completeUrl: z.url(),
    })
    .nullable(),
});
export type OutputTarget = z.infer<typeof outputTargetSchema>;

/**
 * What the job's Secret holds: signed URLs, tokens and the caller's file name. One output per attempt
 * (index 0 is attempt 1), so that a lost attempt that comes back writes where nobody reads.
 */
export const jobTicketSchema = z.object({
  inputUrl: z.url().nullable().meta({ description: 'Signed GET; null until the input is stored.' }),
  inputEtag: z.string().nullable(),
  filename: z.string().nullable(),
  outputs: z.array(outputTargetSchema),
  heartbeatTokens: z.array(z.string()).meta({ description: 'One per attempt, as the outputs.' }),
});
export type JobTicket = z.infer<typeof jobTicketSchema>;
