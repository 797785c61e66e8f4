import { describe, expect, it } from 'vitest';
import { runSpecSchema } from '#crds/run-spec.ts';
import { buildRunSpec } from '#controller/run-spec.ts';
import { LOCAL_TIMING } from '#controller/timing.ts';
import { buildSpec, buildStatus, buildTicket } from '#test/support/build-media-job.ts';

const NOW = new Date('2026-01-01T01:00:00Z');
const mediaJob = {
  metadata: { name: 'job-1', uid: 'uid-1', resourceVersion: '1', creationTimestamp: NOW.toISOString(), labels: {} },
  spec: buildSpec(),
};
const heartbeat = { url: 'http://127.0.0.1:8091/heartbeat', token: 'token' };
const input = { mediaJob, ticket: buildTicket(), attempt: 1, heartbeat, now: NOW };

describe('run spec', () => {
  it('is what the worker accepts', () => {
    expect(runSpecSchema.parse(buildRunSpec(LOCAL_TIMING, input))).toEqual(buildRunSpec(LOCAL_TIMING, input));
  });

  it('names the output of its own attempt and no other', () => {
    const text = JSON.stringify(buildRunSpec(LOCAL_TIMING, { ...input, attempt: 2 }));
    expect(text).toContain('output-2');
    expect(text).not.toMatch(/output-[13]/);
  });

  it('ends with the 4 hours that began with the first attempt', () => {
    const running = { ...mediaJob, status: buildStatus({ startedAt: '2026-01-01T00:00:00.000Z' }) };
    expect(buildRunSpec(LOCAL_TIMING, { ...input, mediaJob: running }).timeoutSeconds).toBe(3 * 3600);
  });

  it.each([
    ['the input URL', { ticket: buildTicket({ inputUrl: null }) }, /no input URL/],
    ['the output URL', { attempt: 4 }, /no output for attempt 4/],
    [
      'the target',
      {
        mediaJob: {
          ...mediaJob,
          spec: buildSpec({ options: { ...mediaJob.spec.options, convert: { to: 'xyz', page: 1, dpi: 72 } } }),
        },
      },
      /format xyz/,
    ],
  ])('is refused when %s is missing', (_what, change, message) => {
    expect(() => buildRunSpec(LOCAL_TIMING, { ...input, ...change })).toThrow(message);
  });
});
