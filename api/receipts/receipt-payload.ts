/** Payload of a receipt. It contains no file name, URL, metadata or account, so that it can be shown to anyone. */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { usdOf } from '#api/billing/usd.ts';
import type { LedgerRow } from '#api/billing/ledger-rows.ts';
import { API_VERSION, STANDARD } from '#api/interface-version.ts';
import type { Job } from '#api/jobs/job.ts';
import { canonicalJson } from '#api/receipts/canonical-json.ts';
import { OPERATIONS } from '#crds/catalogue/formats.ts';
import { resolvedOptionsSchema } from '#crds/catalogue/options/options.ts';
import { METERS } from '#crds/catalogue/prices.ts';
import { engineResultSchema, type EngineResult } from '#crds/contract/result.ts';

const timestamp = z.iso.datetime();
const sha256 = z.string().regex(/^[0-9a-f]{64}$/);

export const receiptPayloadSchema = z
  .object({
    version: z.literal(1),
    job_id: z.string(),
    livemode: z.boolean(),
    operation: z.enum(OPERATIONS),
    status: z.enum(['succeeded', 'failed', 'canceled']),
    api_version: z.string(),
    standard: z.string(),
    created_at: timestamp,
    started_at: timestamp.nullable(),
    completed_at: timestamp,
    input: z.object({ sha256: sha256.nullable(), size: z.int().nullable(), format: z.string().nullable() }),
    output: z.object({ sha256, size: z.int(), format: z.string() }).nullable(),
    options: resolvedOptionsSchema,
    /** Hash of `options` as canonical JSON (RFC 8785). */
    options_sha256: sha256,
    result: engineResultSchema
      .pick({
        kind: true,
        savings_percent: true,
        kept_original: true,
        increased: true,
        width: true,
        height: true,
        pages: true,
        duration_seconds: true,
        video_codec: true,
      })
      .nullable(),
    error_code: z.string().nullable(),
    billing: z.object({
      billed: z.boolean(),
      meter: z.enum([...METERS, 'unbilled']),
      quantity: z.number(),
      amount_usd: z.number(),
    }),
    /** null when nothing was processed. */
    engine: z.object({ image: z.string().nullable(), tools: z.record(z.string(), z.string()) }).nullable(),
    quality: z.object({ metric: z.string(), score: z.number() }).nullable(),
    /** Latest times when the files are deleted; null when the service stores no output. */
    deletion: z.object({ input_at: timestamp, output_at: timestamp.nullable() }),
  })
  .meta({ id: 'ReceiptPayload' });
export type ReceiptPayload = z.infer<typeof receiptPayloadSchema>;

/** Job with a final status. */
export type FinishedJob = Job & {
  readonly status: ReceiptPayload['status'];
  readonly completedAt: Date;
};

export type JobCharge = Pick<LedgerRow, 'meter' | 'quantity' | 'amountMicroUsd'>;

/** Returns the payload of a job. It is always the same: it excludes facts that may change, such as early deletions. */
export function receiptPayload(job: FinishedJob, charge: JobCharge): ReceiptPayload {
  const { result } = job;
  const completedAt = job.completedAt.toISOString();
  const keepsOutput = job.outputKey !== null;
  return {
    version: 1,
    job_id: job.id,
    livemode: job.livemode,
    operation: job.operation,
    status: job.status,
    api_version: API_VERSION,
    standard: STANDARD,
    created_at: job.createdAt.toISOString(),
    started_at: job.startedAt?.toISOString() ?? null,
    completed_at: completedAt,
    input: inputOf(job),
    output: outputOf(job),
    options: JSON.parse(canonicalJson(job.options)) as ReceiptPayload['options'],
    options_sha256: createHash('sha256').update(canonicalJson(job.options)).digest('hex'),
    result: result === null ? null : figuresOf(result),
    error_code: job.error?.code ?? null,
    billing: {
      billed: job.billed,
      meter: charge.meter,
      quantity: charge.quantity,
      amount_usd: usdOf(charge.amountMicroUsd),
    },
    engine: engineOf(job),
    quality: null,
    deletion: { input_at: completedAt, output_at: keepsOutput ? (job.expiresAt?.toISOString() ?? null) : null },
  };
}

function engineOf({ report }: FinishedJob): ReceiptPayload['engine'] {
  return report === null ? null : { image: report.image ?? null, tools: report.tools };
}

function inputOf({ report, result, inputEtag, inputSize }: FinishedJob): ReceiptPayload['input'] {
  if (report !== null && result !== null) {
    return { sha256: report.inputSha256, size: result.original_size, format: result.input_format };
  }
  // The ETag of the file store is the quoted SHA-256 when one request sent the file.
  const hash = /^"([0-9a-f]{64})"$/.exec(inputEtag ?? '')?.[1] ?? null;
  return { sha256: hash, size: inputSize, format: null };
}

function outputOf({ report, result }: FinishedJob): ReceiptPayload['output'] {
  if (report === null || result === null) return null;
  return { sha256: report.outputSha256, size: result.output_size, format: result.output_format };
}

function figuresOf(result: EngineResult): NonNullable<ReceiptPayload['result']> {
  return {
    kind: result.kind,
    savings_percent: result.savings_percent,
    kept_original: result.kept_original,
    increased: result.increased,
    width: result.width,
    height: result.height,
    pages: result.pages,
    duration_seconds: result.duration_seconds,
    video_codec: result.video_codec,
  };
}
