import { describe, expect, it } from 'vitest';
import type { Format } from '#crds/catalogue/formats.ts';
import { completeRunSpec, runSpecSchema } from '#crds/contract/run-spec.ts';
import { buildRunSpec } from '#controller/run-spec.ts';
import { LOCAL_TIMING } from '#controller/timing.ts';
import { buildSpec, buildStatus, buildTicket } from '#test/support/build-media-job.ts';

const NOW = new Date('2026-01-01T01:00:00Z');
const mediaJob = {
  metadata: { name: 'job-1', uid: 'uid-1', resourceVersion: '1', creationTimestamp: NOW.toISOString(), labels: {} },
  spec: buildSpec(),
};
const input = {
  mediaJob,
  attempt: 1,
  heartbeatUrl: 'http://127.0.0.1:8091/heartbeat',
  now: NOW,
  isTraced: false,
};

describe('buildRunSpec', () => {
  it('returns a spec that the worker accepts together with the ticket', () => {
    const whole = completeRunSpec(buildRunSpec(LOCAL_TIMING, input), buildTicket());
    expect(runSpecSchema.parse(whole)).toEqual(whole);
  });

  it('combines with the token of its own attempt only', () => {
    const text = JSON.stringify(completeRunSpec(buildRunSpec(LOCAL_TIMING, { ...input, attempt: 2 }), buildTicket()));
    expect(text).toContain('token-2');
    expect(text).not.toMatch(/token-[13]/);
  });

  // Promise, States: 30 minutes without capacity, or 4 hours of work: timeout
  it('sets the rest of the 4 hours since the first attempt as timeout', () => {
    const running = { ...mediaJob, status: buildStatus({ startedAt: '2026-01-01T00:00:00.000Z' }) };
    expect(buildRunSpec(LOCAL_TIMING, { ...input, mediaJob: running }).timeoutSeconds).toBe(3 * 3600);
  });

  it('is rejected with a ticket without input or without a token of its attempt', () => {
    const open = buildRunSpec(LOCAL_TIMING, { ...input, attempt: 4 });
    expect(() => completeRunSpec(open, buildTicket({ inputEtag: null }))).toThrow('no input');
    expect(() => completeRunSpec(open, buildTicket())).toThrow('no token for attempt 4');
  });

  it('rejects an unknown format', () => {
    const spec = buildSpec({
      options: { ...mediaJob.spec.options, convert: { to: 'xyz' as Format, page: 1, dpi: 72 } },
    });
    expect(() => buildRunSpec(LOCAL_TIMING, { ...input, mediaJob: { ...mediaJob, spec } })).toThrow('format xyz');
  });
});
