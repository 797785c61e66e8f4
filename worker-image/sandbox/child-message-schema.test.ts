import { describe, expect, it } from 'vitest';
import { parseFromChild } from '#worker-image/sandbox/child-message-schema.ts';
import { TEXT_CHARACTERS } from '#worker-image/sandbox/engine-protocol.ts';
import { buildReport } from '#test/support/build-media-job.ts';

const done = { type: 'done', report: buildReport(), rssBytes: 1, mustBeReplaced: false };
const refused = { type: 'refused', code: 'processing_failed', message: 'No.', param: null, cause: null, rssBytes: 1 };
const { message, param, cause } = TEXT_CHARACTERS;

describe('parseFromChild', () => {
  it.each([
    { type: 'progress', percent: 1 },
    { type: 'progress', percent: 100 },
    { type: 'budget', cpuSeconds: 0 },
    done,
    refused,
    { ...refused, message: 'x'.repeat(message), param: 'x'.repeat(param), cause: 'x'.repeat(cause) },
    { type: 'killed', message: 'out of memory' },
    { type: 'bug', stack: 'Error\n    at file.ts' },
  ])('returns the valid message %#', (valid) => {
    expect(parseFromChild(JSON.stringify(valid))).toEqual(valid);
  });

  it.each([
    ['another type', { type: 'exec' }],
    ['a further field', { ...done, path: '/etc/shadow' }],
    ['a missing field', { type: 'progress' }],
    ['0 percent', { type: 'progress', percent: 0 }],
    ['101 percent', { type: 'progress', percent: 101 }],
    ['a fraction of a percent', { type: 'progress', percent: 1.5 }],
    ['a negative budget', { type: 'budget', cpuSeconds: -1 }],
    ['a budget above the maximum', { type: 'budget', cpuSeconds: 1e8 }],
    ['a negative memory', { ...done, rssBytes: -1 }],
    ['an invalid report', { ...done, report: { ...buildReport(), inputSha256: 'none' } }],
    ['a code of accounts', { ...refused, code: 'spend_cap_reached' }],
    ['a message of two lines', { ...refused, message: 'a\nb' }],
    ['a long message', { ...refused, message: 'x'.repeat(message + 1) }],
    ['a long param', { ...refused, param: 'x'.repeat(param + 1) }],
    ['a long cause', { ...refused, cause: 'x'.repeat(cause + 1) }],
    ['a long stack', { type: 'bug', stack: 'x'.repeat(cause + 1) }],
    ['an array', [done]],
    ['null', null],
  ])('returns null for %s', (_what, invalid) => {
    expect(parseFromChild(JSON.stringify(invalid))).toBeNull();
  });

  it.each(['', 'no JSON', '{"type":"progress","percent":1'])('returns null for the text "%s"', (text) => {
    expect(parseFromChild(text)).toBeNull();
  });
});
