import { describe, expect, it } from 'vitest';
import { conditionSchema, conditionsOf, type Condition } from '#crds/contract/media-job-conditions.ts';
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
    ['suspended', buildStatus({ reason: 'Suspended' }), 'False False Unknown Unknown False False'],
    ['new', buildStatus(), 'True False Unknown Unknown False False'],
    ['running', running, 'True True True Unknown False False'],
    ['silent', { ...running, reason: 'HeartbeatsMissing' }, 'True True False Unknown False False'],
    ['succeeded', succeeded, 'True True True True True False'],
    ['failed before it ran', failed, 'True False Unknown False False True'],
  ])('of a job that is %s have the expected statuses', (_what, status, expected) => {
    const all = conditions(status);
    expect(all.map((condition) => condition.status).join(' ')).toBe(expected);
    for (const condition of all) expect(conditionSchema.safeParse(condition).success).toBe(true);
  });

  it('keep their time while their status does not change', () => {
    const earlier = conditionsOf({ status: running, generation: 1, before: [], now: new Date('2026-01-01T00:00:00Z') });
    const changed = conditions(succeeded, earlier).filter(
      ({ lastTransitionTime }) => lastTransitionTime === NOW.toISOString(),
    );
    expect(changed.map(({ type }) => type)).toEqual(['Succeeded', 'Complete']);
  });

  it('have reasons of their own', () => {
    const reasons = Object.fromEntries(conditions(failed).map(({ type, reason }) => [type, reason]));
    expect(reasons).toMatchObject({ Admitted: 'InputStored', Started: 'WaitTimeout', Failed: 'WaitTimeout' });
    expect(conditions(running).find(({ type }) => type === 'Complete')?.reason).toBe('Unfinished');
  });
});
