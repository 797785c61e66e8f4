import { describe, expect, it } from 'vitest';
import type { Job } from '#api/jobs/job.ts';
import { jobObject, jobObjectSchema } from '#api/jobs/job-object.ts';
import { buildReport } from '#test/support/job-builder.ts';

const deps = { baseUrl: 'https://api.example.test', linkKeys: [{ id: 'a', key: Buffer.alloc(32, 1) }] };
const at = new Date('2026-01-01T00:00:00.000Z');
const QUEUED = {
  id: 'job_abc',
  livemode: true,
  operation: 'compress',
  status: 'queued',
  percent: 0,
  createdAt: at,
  startedAt: null,
  completedAt: null,
  inputFilename: 'photo.jpg',
  inputSize: 1000,
  result: null,
  error: null,
  billed: false,
  outputKey: null,
  expiresAt: null,
  filesDeletedAt: null,
  metadata: {},
} as unknown as Job;
const SUCCEEDED: Job = {
  ...QUEUED,
  status: 'succeeded',
  completedAt: at,
  result: buildReport().result,
  outputKey: 'outputs/job_abc/1',
  expiresAt: new Date(at.getTime() + 3_600_000),
};

describe('jobObject', () => {
  it('has no expiry while the job is unfinished, although one is stored', () => {
    expect(jobObject(deps, { ...QUEUED, expiresAt: at })).toMatchObject({
      status: 'queued',
      expires_at: null,
      result: null,
    });
  });

  it('has a signed link, valid until the job expires, while there is an output', () => {
    const object = jobObject(deps, SUCCEEDED);
    expect(jobObjectSchema.parse(object)).toEqual(object);
    expect(object.result?.download_url).toMatch(
      /^https:\/\/api\.example\.test\/v1\/jobs\/job_abc\/output\?.*expires=1767229200/,
    );
    expect(object.result?.download_expires_at).toBe('2026-01-01T01:00:00.000Z');
  });

  it('has no link when the output went to `output.url`', () => {
    expect(jobObject(deps, { ...SUCCEEDED, outputKey: null }).result).toMatchObject({
      download_url: null,
      download_expires_at: null,
    });
  });

  it('says that the files are deleted', () => {
    expect(jobObject(deps, SUCCEEDED).files_deleted).toBe(false);
    expect(jobObject(deps, { ...SUCCEEDED, filesDeletedAt: at }).files_deleted).toBe(true);
  });
});
