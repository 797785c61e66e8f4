import { describe, expect, it } from 'vitest';
import { untrustedReportSchema } from '#crds/contract/untrusted-report.ts';
import { buildReport } from '#test/support/build-media-job.ts';

const report = buildReport();

describe('untrustedReportSchema', () => {
  it('accepts the report of a worker without a change', () => {
    expect(untrustedReportSchema.parse(report)).toEqual(report);
  });

  it.each<[string, object]>([
    ['an unknown field', { ...report, extra: 1 }],
    ['an unknown field of the result', { ...report, result: { ...report.result, extra: 1 } }],
    ['a hash of another length', { ...report, inputSha256: 'a'.repeat(63) }],
    ['a negative size', { ...report, result: { ...report.result, output_size: -1 } }],
    ['a fractional width', { ...report, result: { ...report.result, width: 1.5 } }],
    ['no page', { ...report, result: { ...report.result, pages: 0 } }],
    ['a codec with a blank', { ...report, result: { ...report.result, video_codec: 'h 265' } }],
    ['a control character in a warning', { ...report, result: { ...report.result, warnings: ['a\u001b[2J'] } }],
    ['a long warning', { ...report, result: { ...report.result, warnings: ['a'.repeat(201)] } }],
    ['eleven warnings', { ...report, result: { ...report.result, warnings: Array.from({ length: 11 }, () => 'a') } }],
    ['65 tools', { ...report, tools: Object.fromEntries(Array.from({ length: 65 }, (_, at) => [`tool${at}`, '1'])) }],
    ['a name of a tool with a slash', { ...report, tools: { 'a/b': '1' } }],
  ])('refuses %s', (_what, changed) => {
    expect(untrustedReportSchema.safeParse(changed).success).toBe(false);
  });
});
