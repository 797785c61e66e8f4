import { describe, expect, it } from 'vitest';
import type { MediaJobStatus } from '#crds/contract/media-job.ts';
import { eventOf } from '#crds/media-jobs/media-job-events.ts';
import { buildReport, buildStatus } from '#test/support/build-media-job.ts';

const running = buildStatus({ phase: 'Running', attempt: 1, reason: 'Running', node: 'n1' });
const succeeded = buildStatus({ ...running, phase: 'Succeeded', reason: 'Succeeded', report: buildReport() });
const failed = buildStatus({
  phase: 'Failed',
  attempt: 1,
  reason: 'WaitTimeout',
  error: { code: 'timeout', message: 'It waited.' },
});

describe('eventOf', () => {
  const lost = buildStatus({ attempt: 1, reason: 'AttemptLost', message: 'Attempt 1 was lost: gone.' });
  const waiting = buildStatus({ attempt: 1, reason: 'ImageNotPulled', message: 'The image w cannot be pulled.' });

  it.each<[string, MediaJobStatus | undefined, MediaJobStatus, string | null]>([
    ['a start', undefined, buildStatus({ attempt: 1 }), null],
    ['the first heartbeat', buildStatus({ attempt: 1 }), running, 'Normal Running: Attempt 1 is running on n1.'],
    ['a changed percentage', running, { ...running, percent: 50 }, null],
    ['a success', running, succeeded, 'Normal Succeeded: Attempt 1 stored its output.'],
    ['a failure', undefined, failed, 'Warning WaitTimeout: timeout: It waited.'],
    ['a lost attempt', running, lost, 'Warning AttemptLost: Attempt 1 was lost: gone.'],
    ['a further write after a lost attempt', lost, { ...lost, percent: 1 }, null],
    ['an image that cannot be pulled', buildStatus(), waiting, 'Warning ImageNotPulled: The image w cannot be pulled.'],
    ['a further write with the same reason', waiting, waiting, null],
  ])('for %s returns the expected event or none', (_what, before, after, expected) => {
    const event = eventOf(before, after);
    expect(event === null ? null : `${event.type} ${event.reason}: ${event.message}`).toBe(expected);
  });
});
