import { describe, expect, it } from 'vitest';
import { NEVER_SUSPENDED, type SilenceRule } from '#controller/collective-silence.ts';
import { isOverdue, isUnheard, silenceEnd } from '#controller/silence-deadline.ts';
import type { RunState } from '#controller/runs.ts';
import { LOCAL_TIMING } from '#controller/timing.ts';
import { buildStatus } from '#test/support/build-media-job.ts';

const at = (seconds: number): Date => new Date(Date.parse('2026-01-01T00:00:00Z') + seconds * 1000);
const { heartbeatTimeoutSeconds: TIMEOUT, trustedSilenceSeconds: TRUSTED } = LOCAL_TIMING;

interface Situation {
  readonly status?: RunState;
  /** Time of the last heartbeat; null: none. */
  readonly heard?: number | null;
  readonly listeningSince?: number;
  readonly silenceRule?: SilenceRule;
  readonly phase?: 'Pending' | 'Running';
  readonly now?: number;
}

const active = (isOnReadyNode = true): RunState => ({ state: 'active', startedAt: at(10), isOnReadyNode });

function factsOf(situation: Situation) {
  const {
    status = active(),
    heard = 50,
    listeningSince = 0,
    silenceRule = NEVER_SUSPENDED,
    phase = 'Running',
  } = situation;
  return {
    run: { name: 'run-1', owner: { name: 'job-1', uid: 'uid-1' }, attempt: 1, node: null, status },
    heartbeat: heard === null ? null : { firstAt: at(heard), lastAt: at(heard), percent: 0 },
    listeningSince: at(listeningSince),
    silenceRule,
    now: at(situation.now ?? 60),
    status: buildStatus({ phase }),
  };
}

describe('a silent run', () => {
  it.each<[string, Situation, number]>([
    ['is lost a timeout after its last heartbeat', {}, 50 + TIMEOUT],
    ['is lost a timeout after the controller began to listen', { listeningSince: 80 }, 80 + TIMEOUT],
    [
      'is kept longer while most attempts are silent',
      { silenceRule: { isSuspended: true, resumedAt: null } },
      50 + TRUSTED,
    ],
    [
      'has a whole timeout again when the rule is resumed',
      { silenceRule: { isSuspended: false, resumedAt: at(90) } },
      90 + TIMEOUT,
    ],
    [
      'is lost as usual when the rule was resumed before its silence',
      { silenceRule: { isSuspended: false, resumedAt: at(20) } },
      50 + TIMEOUT,
    ],
    ['is kept longer when it was never heard', { heard: null, phase: 'Pending' }, 10 + TRUSTED],
    [
      'is lost as usual on a node that does not report, also while most attempts are silent',
      { status: active(false), silenceRule: { isSuspended: true, resumedAt: null } },
      50 + TIMEOUT,
    ],
  ])('%s', (_what, situation, seconds) => {
    expect(silenceEnd(LOCAL_TIMING, factsOf(situation))).toEqual(at(seconds));
  });

  it('has no deadline before it is active', () => {
    const facts = factsOf({ status: { state: 'waiting', waitingFor: null } });
    expect(silenceEnd(LOCAL_TIMING, facts)).toBeNull();
    expect(isOverdue(LOCAL_TIMING, facts)).toBe(false);
  });

  it('is overdue after the timeout, even while the rule is suspended', () => {
    const silenceRule = { isSuspended: true, resumedAt: null };
    expect(isOverdue(LOCAL_TIMING, factsOf({ silenceRule, now: 50 + TIMEOUT }))).toBe(true);
    expect(isOverdue(LOCAL_TIMING, factsOf({ silenceRule, now: 49 + TIMEOUT }))).toBe(false);
  });
});

describe('an unheard run', () => {
  it('has no heartbeat here and none in the status', () => {
    expect(isUnheard(factsOf({ heard: null, phase: 'Pending' }))).toBe(true);
    expect(isUnheard(factsOf({ heard: null, phase: 'Running' }))).toBe(false);
    expect(isUnheard(factsOf({ phase: 'Pending' }))).toBe(false);
  });
});
