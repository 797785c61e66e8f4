import { describe, expect, it } from 'vitest';
import { conditionSchema, conditionsOf, type Condition } from '#crds/contract/media-job-conditions.ts';
import { eventOf } from '#crds/media-jobs/media-job-events.ts';
import type { MediaJobStatus } from '#crds/contract/media-job.ts';
import { buildReport, buildStatus } from '#test/support/build-media-job.ts';

const NOW = new Date('2026-01-01T00:10:00.000Z');

function conditions(status: MediaJobStatus, before: readonly Condition[] = []): Condition[] {
  return conditionsOf({ status, generation: 2, before, now: NOW });
}

const running = buildStatus({
  phase: 'Running',
  attempt: 1,
  reason: 'Running',
  startedAt: NOW.toISOString(),
  node: 'n1',
});
const succeeded = buildStatus({ ...running, phase: 'Succeeded', reason: 'Succeeded', report: buildReport() });
const failed = buildStatus({
  phase: 'Failed',
  attempt: 1,
  reason: 'WaitTimeout',
  message: 'It waited.',
  error: { code: 'timeout', message: 'It waited.' },
});

describe('conditions', () => {
  it.each<[string, MediaJobStatus, string]>([
    ['suspended', buildStatus({ reason: 'Suspended' }), 'False False Unknown'],
    ['new', buildStatus(), 'True False Unknown'],
    ['running', running, 'True True Unknown'],
    ['succeeded', succeeded, 'True True True'],
    ['failed before it ran', failed, 'True False False'],
  ])('of a job that is %s have the expected statuses of Admitted, Started and Succeeded', (_what, status, expected) => {
    const all = conditions(status);
    expect(all.map((condition) => condition.status).join(' ')).toBe(expected);
    for (const condition of all) expect(conditionSchema.safeParse(condition).success).toBe(true);
  });

  it('keep their time while their status does not change', () => {
    const earlier = conditionsOf({ status: running, generation: 1, before: [], now: new Date('2026-01-01T00:00:00Z') });
    const times = conditions(succeeded, earlier).map(({ lastTransitionTime }) => lastTransitionTime);
    expect(times).toEqual(['2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z', NOW.toISOString()]);
  });
});

describe('events', () => {
  const lost = buildStatus({ attempt: 1, reason: 'AttemptLost', message: 'Attempt 1 was lost: gone.' });
  const waiting = buildStatus({ attempt: 1, reason: 'ImageNotPulled', message: 'The image w cannot be pulled.' });

  it.each<[string, MediaJobStatus | undefined, MediaJobStatus, string | null]>([
    ['a start is no event', undefined, buildStatus({ attempt: 1 }), null],
    ['the first heartbeat', buildStatus({ attempt: 1 }), running, 'Normal Running: Attempt 1 is running on n1.'],
    ['a percent is no event', running, { ...running, percent: 50 }, null],
    ['success', running, succeeded, 'Normal Succeeded: Attempt 1 stored its output.'],
    ['failure', undefined, failed, 'Warning WaitTimeout: timeout: It waited.'],
    ['a lost attempt', running, lost, 'Warning AttemptLost: Attempt 1 was lost: gone.'],
    ['a lost attempt once', lost, { ...lost, percent: 1 }, null],
    ['an image', buildStatus(), waiting, 'Warning ImageNotPulled: The image w cannot be pulled.'],
    ['an image once', waiting, waiting, null],
  ])('%s', (_what, before, after, expected) => {
    const event = eventOf(before, after);
    expect(event === null ? null : `${event.type} ${event.reason}: ${event.message}`).toBe(expected);
  });
});
