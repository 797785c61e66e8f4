import { describe, expect, it } from 'vitest';
import {
  impossibleEnd,
  isWaitingForCapacity,
  percentDue,
  startDeadline,
  type UnfinishedFacts,
} from '#controller/job-deadlines.ts';
import { NEVER_SUSPENDED } from '#controller/collective-silence.ts';
import type { RunState } from '#controller/runs.ts';
import { LOCAL_TIMING } from '#controller/timing.ts';
import type { MediaJobSpec, MediaJobStatus } from '#crds/contract/media-job.ts';
import { buildSpec, buildStatus } from '#test/support/build-media-job.ts';

const at = (seconds: number): Date => new Date(Date.parse('2026-01-01T00:00:00Z') + seconds * 1000);

interface Situation {
  readonly spec?: Partial<MediaJobSpec>;
  readonly status?: Partial<MediaJobStatus>;
  readonly runStatus?: RunState;
  readonly percentWrittenAt?: Date;
}

function factsOf({ spec, status, runStatus, percentWrittenAt }: Situation): UnfinishedFacts {
  return {
    now: at(1000),
    name: 'job-1',
    mediaJob: {
      metadata: {
        name: 'job-1',
        uid: 'uid-1',
        resourceVersion: '1',
        creationTimestamp: at(500).toISOString(),
        labels: {},
      },
      spec: buildSpec({ waitUntil: at(1800).toISOString(), ...spec }),
    },
    status: buildStatus({ startedAt: null, ...status }),
    isUnclaimed: false,
    attempt: 1,
    run:
      runStatus === undefined
        ? null
        : { name: 'run-1', owner: { name: 'job-1', uid: 'uid-1' }, attempt: 1, node: null, status: runStatus },
    strays: [],
    outOfMemory: 0,
    heartbeat: null,
    listeningSince: at(0),
    silenceRule: NEVER_SUSPENDED,
    percentWrittenAt: percentWrittenAt ?? null,
  };
}

const WAITING: RunState = { state: 'waiting', waitingFor: null };
const ACTIVE: RunState = { state: 'active', startedAt: at(900), isOnReadyNode: true };
const LOST: Partial<MediaJobStatus> = { reason: 'AttemptLost' };

describe('a job waits for capacity', () => {
  it.each<[string, Situation, boolean]>([
    ['without a run', {}, true],
    ['while its run waits', { runStatus: WAITING }, true],
    ['until its run is active', { runStatus: ACTIVE }, false],
    ['again when its run was lost before a heartbeat', { runStatus: ACTIVE, status: LOST }, true],
    ['never again after a heartbeat', { status: { startedAt: at(900).toISOString() } }, false],
  ])('%s', (_when, situation, expected) => {
    expect(isWaitingForCapacity(factsOf(situation))).toBe(expected);
  });
});

describe('the deadline of a start', () => {
  it('is the end of the wait of the job', () => {
    expect(startDeadline(LOCAL_TIMING, factsOf({}))).toEqual(at(1800));
  });

  it('is counted from the MediaJob when an earlier one had started the job', () => {
    const facts = factsOf({ spec: { firstAttempt: 2 } });
    expect(startDeadline(LOCAL_TIMING, facts)).toEqual(at(500 + LOCAL_TIMING.jobWaitSeconds));
  });

  it('is the end of the run time after the first heartbeat', () => {
    const facts = factsOf({ status: { startedAt: at(900).toISOString() } });
    expect(startDeadline(LOCAL_TIMING, facts)).toEqual(at(900 + LOCAL_TIMING.jobRunSeconds));
  });
});

describe('a run that cannot start', () => {
  const runStatus: RunState = {
    state: 'waiting',
    waitingFor: { reason: 'refused', message: 'No.', impossibleSince: at(100) },
  };

  it('fails five minutes after it was refused', () => {
    expect(impossibleEnd(LOCAL_TIMING, factsOf({ runStatus }))).toEqual(at(400));
  });

  it.each<[string, Situation]>([
    ['was lost', { runStatus, status: LOST }],
    ['may start later', { runStatus: { state: 'waiting', waitingFor: { reason: 'capacity', message: 'Full.' } } }],
    ['is active', { runStatus: ACTIVE }],
  ])('has no deadline when it %s', (_what, situation) => {
    expect(impossibleEnd(LOCAL_TIMING, factsOf(situation))).toBeNull();
  });
});

describe('the percentage of a job', () => {
  it('is written at once the first time, and then at most once per interval', () => {
    expect(percentDue(LOCAL_TIMING, factsOf({}))).toEqual(at(1000));
    expect(percentDue(LOCAL_TIMING, factsOf({ percentWrittenAt: at(999.9) }))).toEqual(at(1000.4));
  });
});
