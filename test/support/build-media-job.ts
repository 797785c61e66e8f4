import type { NewMediaJob } from '#crds/media-jobs/media-job-client.ts';
import {
  mediaJobSpecSchema,
  type JobTicket,
  type MediaJobSpec,
  type MediaJobStatus,
  type WorkerReport,
} from '#crds/contract/media-job.ts';
import { mediaJobName } from '#crds/contract/names.ts';
import { resolveOptions } from '#crds/catalogue/options/options.ts';
import { fileLimits } from '#crds/catalogue/plans.ts';

/** Returns a job id of the right form that ends with the number. */
export function jobIdOf(number: number): string {
  return `job_${String(number).padStart(20, '0')}`;
}

export function buildSpec(changes: Partial<MediaJobSpec> = {}): MediaJobSpec {
  const jobId = changes.jobId ?? jobIdOf(1);
  return mediaJobSpecSchema.parse({
    jobId,
    account: 'acc_00000000000000000001',
    operation: 'compress',
    kind: 'video',
    inputSize: 1000,
    options: resolveOptions(new Map()),
    limits: fileLimits('payg'),
    features: { video: true, heicOutput: false },
    secretName: mediaJobName(jobId),
    firstAttempt: 1,
    disruptions: null,
    startedAt: null,
    waitUntil: '2026-01-01T00:30:00.000Z',
    suspend: false,
    ...changes,
  });
}

export function buildTicket(changes: Partial<JobTicket> = {}): JobTicket {
  return {
    dispatch: 'nonce',
    inputEtag: '"etag"',
    filename: 'holiday.mp4',
    heartbeatTokens: [1, 2, 3].map((attempt) => `token-${attempt}`),
    ...changes,
  };
}

export function buildNewMediaJob(spec: Partial<MediaJobSpec> = {}, ticket: Partial<JobTicket> = {}): NewMediaJob {
  const whole = buildSpec(spec);
  return { name: mediaJobName(whole.jobId), labels: { team: 'media' }, spec: whole, ticket: buildTicket(ticket) };
}

export function buildStatus(changes: Partial<MediaJobStatus> = {}): MediaJobStatus {
  return {
    phase: 'Pending',
    attempt: 0,
    disruptions: null,
    percent: 0,
    startedAt: null,
    completedAt: null,
    reason: null,
    message: null,
    node: null,
    report: null,
    error: null,
    ...changes,
  };
}

export function buildReport(): WorkerReport {
  return {
    result: {
      kind: 'video',
      input_format: 'mp4',
      output_format: 'mp4',
      original_size: 1000,
      output_size: 600,
      savings_percent: 40,
      kept_original: false,
      increased: false,
      width: 640,
      height: 360,
      pages: null,
      duration_seconds: 2.5,
      video_codec: 'h265',
      warnings: [],
    },
    inputSha256: 'a'.repeat(64),
    outputSha256: 'b'.repeat(64),
    tools: { ffmpeg: '5.1' },
  };
}
