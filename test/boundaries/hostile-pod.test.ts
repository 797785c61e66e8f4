/** Outcomes that the controller reads from termination messages of a pod that a file has compromised. */
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '#crds/kube/kube-object.ts';
import { runStateOf } from '#controller/run-state.ts';
import { buildReport } from '#test/support/build-media-job.ts';

const AT = '2026-01-01T00:00:05Z';
const times = { runningSince: () => new Date(AT), endedAt: () => new Date(AT) };
const REPORT = buildReport();
const done = (changes: object): object => ({ outcome: 'succeeded', report: { ...REPORT, ...changes } });
const result = (changes: object): object => done({ result: { ...REPORT.result, ...changes } });
const failed = (error: object): object => ({
  outcome: 'failed',
  error: { code: 'processing_failed', message: 'The file is damaged.', ...error },
});

const FORGED: readonly [what: string, message: string][] = [
  ['null', 'null'],
  ['no JSON', '{{{'],
  ['a list', '[]'],
  ['more than a pod may leave', JSON.stringify(failed({ message: 'x'.repeat(5000) }))],
  ['an outcome that does not exist', JSON.stringify({ outcome: 'paid', report: REPORT })],
  ['both outcomes', JSON.stringify({ ...done({}), ...failed({}), outcome: 'succeeded' })],
  ['a field more', JSON.stringify({ ...done({}), billed: false })],
  ['a field more in the report', JSON.stringify(done({ price: 0 }))],
  ['a field more in the result', JSON.stringify(result({ download_url: 'https://evil.example' }))],
  ['a field more in the error', JSON.stringify(failed({ type: 'api_error' }))],
  ['keys of the prototype', JSON.stringify(done({})).replace('{', '{"__proto__":{"outcome":"failed"},')],
  ['an unknown code', JSON.stringify(failed({ code: 'no_such_code' }))],
  ['a code of the prototype', JSON.stringify(failed({ code: 'constructor' }))],
  ['a long message', JSON.stringify(failed({ message: 'x'.repeat(1001) }))],
  ['control characters in its message', JSON.stringify(failed({ message: '\u001b[2Jgone\r\n' }))],
  ['right-to-left text in its message', JSON.stringify(failed({ message: 'ok\u202Eko' }))],
  ['control characters in a warning', JSON.stringify(result({ warnings: ['\u0007'] }))],
  ['many warnings', JSON.stringify(result({ warnings: Array.from({ length: 11 }, () => 'x') }))],
  ['a format that does not exist', JSON.stringify(result({ output_format: 'exe' }))],
  ['a negative size', JSON.stringify(result({ output_size: -1 }))],
  ['an infinite size', JSON.stringify(result({ output_size: 0 })).replace('"output_size":0', '"output_size":1e999')],
  ['no pages at all', JSON.stringify(result({ pages: 0 }))],
  ['a negative duration', JSON.stringify(result({ duration_seconds: -60 }))],
  ['a codec with markup', JSON.stringify(result({ video_codec: '<script>' }))],
  ['a malformed hash', JSON.stringify(done({ inputSha256: '../../etc/shadow' }))],
  ['a tool with markup', JSON.stringify(done({ tools: { '<b>': '1' } }))],
  ['an image with control characters', JSON.stringify(done({ image: 'worker\n:1' }))],
];

describe('the termination message of a compromised pod', () => {
  it.each(FORGED)('is not accepted as an outcome: %s', (_what, message) => {
    expect(runStateOf(buildObject('job', {}), [endedPod(message)], times)).toMatchObject({
      state: 'lost',
      cause: 'crashed',
    });
  });

  it.each([
    ['a report', done({})],
    ['a refusal', failed({})],
  ])('is accepted as an outcome when it is valid: %s', (_what, outcome) => {
    expect(runStateOf(buildObject('job', {}), [endedPod(JSON.stringify(outcome))], times)).toMatchObject({
      state: 'ended',
    });
  });
});

function endedPod(message: string): KubeObject {
  const state = { terminated: { exitCode: 0, startedAt: AT, finishedAt: AT, message } };
  return buildObject('pod', { phase: 'Succeeded', containerStatuses: [{ name: 'worker', image: 'worker:1', state }] });
}

function buildObject(name: string, status: object): KubeObject {
  return { metadata: { name, uid: `uid-${name}`, resourceVersion: '1', creationTimestamp: AT }, status };
}
