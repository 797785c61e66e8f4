import { describe, expect, it } from 'vitest';
import { receiptPayload, receiptPayloadSchema, type FinishedJob } from '#api/receipts/receipt-payload.ts';
import { resolveOptions } from '#crds/catalogue/options/options.ts';
import { buildReport } from '#test/support/job-builder.ts';

const at = new Date('2026-01-01T00:00:00.000Z');
const report = buildReport();
const SUCCEEDED = {
  id: 'job_abc',
  livemode: true,
  operation: 'compress',
  status: 'succeeded',
  createdAt: at,
  startedAt: at,
  completedAt: at,
  inputEtag: '"in"',
  inputFilename: 'secret name.jpg',
  inputSize: 1000,
  options: resolveOptions(new Map()),
  metadata: { secret: 'metadata' },
  report,
  result: report.result,
  error: null,
  billed: true,
  outputKey: 'outputs/job_abc/1',
  expiresAt: new Date('2026-01-01T01:00:00.000Z'),
} as unknown as FinishedJob;
const FAILED: FinishedJob = {
  ...SUCCEEDED,
  status: 'failed',
  report: null,
  result: null,
  error: { type: 'processing_error', code: 'processing_failed', message: 'secret message' },
  billed: false,
  outputKey: null,
};
const CHARGE = { meter: 'images', quantity: 1, amountMicroUsd: 2000 } as const;
const FREE = { meter: 'unbilled', quantity: 0, amountMicroUsd: 0 } as const;

describe('receiptPayload', () => {
  it('contains hashes, sizes, formats and price of a success, and no name, message or metadata', () => {
    const payload = receiptPayload(SUCCEEDED, CHARGE);
    expect(receiptPayloadSchema.parse(payload)).toEqual(payload);
    expect(payload).toMatchObject({
      input: { sha256: report.inputSha256, size: 1000, format: 'jpg' },
      output: { sha256: report.outputSha256, size: 400, format: 'jpg' },
      billing: { billed: true, meter: 'images', quantity: 1, amount_usd: 0.002 },
      deletion: { input_at: '2026-01-01T00:00:00.000Z', output_at: '2026-01-01T01:00:00.000Z' },
    });
    expect(JSON.stringify(payload)).not.toContain('secret');
  });

  it('hashes the options whatever the order of their members', () => {
    const options = Object.fromEntries(
      Object.entries(SUCCEEDED.options).toReversed(),
    ) as unknown as FinishedJob['options'];
    expect(receiptPayload({ ...SUCCEEDED, options }, CHARGE)).toEqual(receiptPayload(SUCCEEDED, CHARGE));
  });

  it('has neither output nor engine after a failure, and only the code of the error', () => {
    const payload = receiptPayload(FAILED, FREE);
    expect(payload).toMatchObject({ output: null, engine: null, result: null, error_code: 'processing_failed' });
    expect(payload.deletion.output_at).toBeNull();
    expect(JSON.stringify(payload)).not.toContain('secret');
  });

  it.each([
    [`"${'a'.repeat(64)}"`, 'a'.repeat(64)],
    ['"etag of parts-2"', null],
    [null, null],
  ])('takes the hash of an input without a report from the ETag %s', (inputEtag, sha256) => {
    expect(receiptPayload({ ...FAILED, inputEtag }, FREE).input).toEqual({ sha256, size: 1000, format: null });
  });
});
