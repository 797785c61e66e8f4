import { describe, expect, it } from 'vitest';
import { TERMINATION_BYTES } from '#crds/contract/run-files.ts';
import { heartbeatBodySchema, parseRunOutcome } from '#crds/contract/run-spec.ts';
import { buildReport } from '#test/support/build-media-job.ts';

const failed = { outcome: 'failed', error: { code: 'encrypted_pdf', message: 'The PDF needs a password.' } };

const FETCH = { phase: 'fetch', startMs: 0, endMs: 12 };

describe('parseRunOutcome', () => {
  it.each([failed, { outcome: 'succeeded', report: buildReport() }, { ...failed, phases: [FETCH] }])(
    'returns the outcome %j',
    (outcome) => {
      expect(parseRunOutcome(JSON.stringify(outcome))).toEqual(outcome);
    },
  );

  it.each([
    ['an empty text', ''],
    ['half an outcome', JSON.stringify(failed).slice(0, -1)],
    ['more bytes than the limit', JSON.stringify(failed).padEnd(TERMINATION_BYTES + 1)],
    ['an unknown outcome', '{"outcome":"canceled"}'],
    ['an unknown error code', JSON.stringify({ ...failed, error: { ...failed.error, code: 'root' } })],
    ['an unknown field', JSON.stringify({ ...failed, billed: false })],
    ['an unprintable message', JSON.stringify({ ...failed, error: { ...failed.error, message: '\u202egpj' } })],
    ['a success without a report', '{"outcome":"succeeded"}'],
    ['an unknown phase', JSON.stringify({ ...failed, phases: [{ phase: 'sleep', startMs: 0, endMs: 1 }] })],
    [
      'a phase of two days',
      JSON.stringify({ ...failed, phases: [{ phase: 'fetch', startMs: 0, endMs: 2 * 86_400_000 }] }),
    ],
    ['four phases', JSON.stringify({ ...failed, phases: Array.from({ length: 4 }, () => FETCH) })],
  ])('returns null for %s', (_what, text) => {
    expect(parseRunOutcome(text)).toBeNull();
  });

  it('counts bytes, not characters', () => {
    const message = 'é'.repeat(1000);
    const text = JSON.stringify({ ...failed, error: { ...failed.error, message } });
    const padding = TERMINATION_BYTES - Buffer.byteLength(text);
    expect(parseRunOutcome(text + ' '.repeat(padding))).not.toBeNull();
    expect(parseRunOutcome(text + ' '.repeat(padding + 1))).toBeNull();
  });
});

describe('heartbeatBodySchema', () => {
  it.each([-1, 100, 1.5])('refuses a percentage of %d', (percent) => {
    expect(heartbeatBodySchema.safeParse({ jobId: 'job_1', attempt: 1, percent }).success).toBe(false);
  });
});
