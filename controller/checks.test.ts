import { describe, expect, it } from 'vitest';
import type { MediaJob, MediaJobSpec, MediaJobStatus, WorkerReport } from '#crds/contract/media-job.ts';
import type { RunOutcome } from '#crds/contract/run-spec.ts';
import { NEVER_SUSPENDED } from '#controller/collective-silence.ts';
import { CHECKS } from '#controller/checks.ts';
import { decide } from '#controller/decide.ts';
import type { JobFacts } from '#controller/facts.ts';
import { runName, type Run, type RunState } from '#controller/runs.ts';
import { statusOf } from '#controller/status.ts';
import { LOCAL_TIMING } from '#controller/timing.ts';
import { buildReport, buildSpec, buildStatus } from '#test/support/build-media-job.ts';

const START = Date.parse('2026-01-01T00:00:00Z');
const NAME = 'job-00000000000000000001';
const HOUR = 3600;

const at = (seconds: number): Date => new Date(START + seconds * 1000);
const SUCCEEDED: RunOutcome = { outcome: 'succeeded', report: buildReport() };
const reported = (changes: Partial<WorkerReport['result']>): RunOutcome => ({
  outcome: 'succeeded',
  report: { ...buildReport(), result: { ...buildReport().result, ...changes } },
});
const refused = (code: 'timeout' | 'internal' | 'encrypted_pdf'): RunOutcome => ({
  outcome: 'failed',
  error: { code, message: 'No.' },
});

interface Situation {
  readonly seconds?: number;
  readonly spec?: Partial<MediaJobSpec>;
  /** undefined: the controller has not seen the MediaJob yet. */
  readonly status?: Partial<MediaJobStatus>;
  readonly run?: RunState;
  readonly heard?: { seconds: number; percent: number };
  readonly more?: Partial<JobFacts>;
}

function factsOf({ seconds = 0, spec, status, run, heard, more }: Situation): JobFacts {
  const mediaJob: MediaJob = {
    metadata: { name: NAME, uid: 'uid-1', resourceVersion: '1', creationTimestamp: at(0).toISOString(), labels: {} },
    spec: buildSpec({ waitUntil: at(1800).toISOString(), ...spec }),
    ...(status === undefined ? {} : { status: buildStatus(status) }),
  };
  const attempt = status?.attempt ?? 0;
  return {
    now: at(seconds),
    name: NAME,
    mediaJob,
    attempt: statusOf(mediaJob).attempt,
    run: run === undefined ? null : buildRun(attempt, run),
    strays: [],
    outOfMemory: 0,
    heartbeat:
      heard === undefined ? null : { firstAt: at(heard.seconds), lastAt: at(heard.seconds), percent: heard.percent },
    listeningSince: at(-1000),
    silenceRule: NEVER_SUSPENDED,
    isUnclaimed: false,
    percentWrittenAt: null,
    ...more,
  };
}

function buildRun(attempt: number, status: RunState): Run {
  return { name: runName(NAME, attempt), owner: { name: NAME, uid: 'uid-1' }, attempt, node: 'node-1', status };
}

const SUSPENDED = { isSuspended: true, resumedAt: null };
const active = (seconds = 0): RunState => ({ state: 'active', startedAt: at(seconds), isOnReadyNode: true });
const refusedRun: RunState = {
  state: 'waiting',
  waitingFor: { reason: 'refused', message: 'Kubernetes refuses the pod.', impossibleSince: at(0) },
};
const ended = (outcome: RunOutcome): RunState => ({ state: 'ended', startedAt: at(0), outcome });
const lost = (cause: 'crashed' | 'out_of_memory' = 'crashed'): RunState => ({
  state: 'lost',
  cause,
  message: 'exit code 1',
});
const running = (changes: Partial<MediaJobStatus> = {}): Partial<MediaJobStatus> => ({
  phase: 'Running',
  attempt: 1,
  reason: 'Running',
  startedAt: at(0).toISOString(),
  ...changes,
});
const lostStatus = (attempt: number, changes: Partial<MediaJobStatus> = {}): Partial<MediaJobStatus> => ({
  attempt,
  reason: 'AttemptLost',
  ...changes,
});

describe('decide', () => {
  // Promise, Bad input, case by case: 30 minutes, 4 hours
  // Promise, States: A job whose attempts were lost three times fails with internal
  // Promise, States: 30 minutes without capacity, or 4 hours of work: timeout
  // Promise, States: Processing begins with the worker's first heartbeat; percent never decreases
  it.each<[string, Situation, object]>([
    [
      'the runs of a MediaJob that is not claimed yet continue',
      { more: { mediaJob: null, isUnclaimed: true } },
      { action: 'wait', until: at(10) },
    ],
    ['a deleted MediaJob is released', { more: { mediaJob: null } }, { action: 'release' }],
    [
      'a succeeded MediaJob is released',
      { status: { phase: 'Succeeded', attempt: 1 }, run: active() },
      { action: 'release' },
    ],
    ['a failed MediaJob is released', { status: { phase: 'Failed', attempt: 1 } }, { action: 'release' }],

    ['a suspended MediaJob waits', { spec: { suspend: true } }, { action: 'suspend' }],
    [
      'a silent attempt is not lost while most are silent and its node reports it',
      {
        status: running(),
        run: active(),
        heard: { seconds: 0, percent: 1 },
        seconds: 60,
        more: { silenceRule: SUSPENDED },
      },
      { action: 'show-silence' },
    ],
    [
      'an attempt that is heard again is shown as running',
      {
        status: running({ reason: 'HeartbeatsMissing' }),
        run: active(),
        heard: { seconds: 70, percent: 1 },
        seconds: 71,
        more: { silenceRule: SUSPENDED },
      },
      { action: 'mark-running' },
    ],
    [
      'a silent attempt on a node that does not report is lost also while most are silent',
      {
        status: running(),
        run: { ...active(), isOnReadyNode: false } as RunState,
        heard: { seconds: 0, percent: 1 },
        seconds: 60,
        more: { silenceRule: SUSPENDED },
      },
      { action: 'lose', cause: 'no_heartbeat' },
    ],
    [
      'an attempt is lost after ten silent minutes also while most are silent',
      {
        status: running(),
        run: active(),
        heard: { seconds: 0, percent: 1 },
        seconds: 600,
        more: { silenceRule: SUSPENDED },
      },
      { action: 'lose', cause: 'no_heartbeat', message: 'no heartbeat for 600 seconds' },
    ],
    [
      'an attempt has the whole timeout to be heard after the others are',
      {
        status: running({ reason: 'HeartbeatsMissing', percent: 1 }),
        run: active(),
        heard: { seconds: 0, percent: 1 },
        seconds: 359,
        more: { silenceRule: { isSuspended: false, resumedAt: at(300) } },
      },
      { action: 'wait', until: at(360) },
    ],
    [
      'a suspended MediaJob waits for as long as its input needs',
      { spec: { suspend: true }, seconds: 9999 },
      { action: 'suspend' },
    ],

    [
      'a new MediaJob starts its first attempt',
      {},
      { action: 'start', attempt: 1, recordFirst: false, deadline: at(1800) },
    ],
    [
      'a resumed MediaJob starts its first attempt',
      { status: { reason: 'Suspended' } },
      { action: 'start', attempt: 1, recordFirst: true },
    ],
    [
      'a MediaJob made again starts after the attempts of the earlier one',
      { spec: { firstAttempt: 3 } },
      { action: 'start', attempt: 3, recordFirst: false },
    ],
    [
      'a recorded attempt whose run is not there is started',
      { status: { attempt: 2 } },
      { action: 'start', attempt: 2, recordFirst: false },
    ],
    [
      'a lost attempt is followed by the next',
      { status: lostStatus(1), run: lost() },
      { action: 'start', attempt: 2, recordFirst: true },
    ],
    [
      'a lost attempt is followed by the next also when its run is forgotten',
      { status: lostStatus(2) },
      { action: 'start', attempt: 3, recordFirst: true },
    ],
    [
      'a retried job waits for capacity until the end of its run time',
      { status: lostStatus(1, { startedAt: at(60).toISOString() }) },
      { action: 'start', attempt: 2, deadline: at(60 + 4 * HOUR) },
    ],

    [
      '30 minutes without capacity end the job',
      { seconds: 1800 },
      {
        action: 'finish',
        reason: 'WaitTimeout',
        outcome: {
          outcome: 'failed',
          error: { code: 'timeout', message: expect.stringContaining('waited 30 minutes') },
        },
      },
    ],
    ['a moment before, it may still start', { seconds: 1799.9 }, { action: 'start' }],
    [
      'a run that has no node counts as waiting',
      { seconds: 1800, status: { attempt: 1 }, run: { state: 'waiting', waitingFor: null } },
      { action: 'finish', reason: 'WaitTimeout' },
    ],
    [
      'a run that started in time may send its first heartbeat later',
      { seconds: 1800, status: { attempt: 1 }, run: active(1790) },
      { action: 'wait', until: at(1860) },
    ],
    [
      'an attempt that is lost before its first heartbeat does not extend the wait for capacity',
      { seconds: 1800, status: lostStatus(1) },
      { action: 'finish', reason: 'WaitTimeout' },
    ],
    [
      'a job that had run waits for its next attempt for more than 30 minutes',
      { seconds: 1800, status: lostStatus(1, { startedAt: at(0).toISOString() }) },
      { action: 'start', attempt: 2 },
    ],
    [
      'a job that ran under an earlier MediaJob may wait another 30 minutes',
      { seconds: 1799, spec: { firstAttempt: 2, waitUntil: at(-5000).toISOString() } },
      { action: 'start', attempt: 2, deadline: at(1800) },
    ],
    [
      'the 4 hours of a job include its run under an earlier MediaJob',
      { seconds: 4 * HOUR, spec: { firstAttempt: 2, startedAt: at(0).toISOString() } },
      { action: 'finish', reason: 'RunTimeout' },
    ],
    [
      'a job that ran under an earlier MediaJob waits no longer than 30 minutes',
      { seconds: 1800, spec: { firstAttempt: 2, waitUntil: at(-5000).toISOString() } },
      { action: 'finish', reason: 'WaitTimeout' },
    ],

    [
      'a run without a first heartbeat is waited for',
      { status: { attempt: 1 }, run: active() },
      { action: 'wait', until: at(60) },
    ],
    [
      'the first heartbeat makes the job run',
      { seconds: 2, status: { attempt: 1 }, run: active(), heard: { seconds: 1, percent: 3 } },
      { action: 'mark-running', startedAt: at(1), percent: 3 },
    ],
    [
      'the first heartbeat of a further attempt makes it run again',
      {
        seconds: 9,
        status: { attempt: 2, startedAt: at(1).toISOString() },
        run: active(),
        heard: { seconds: 8, percent: 0 },
      },
      { action: 'mark-running' },
    ],

    [
      'a greater percentage is shown',
      { seconds: 9, status: running({ percent: 10 }), run: active(), heard: { seconds: 9, percent: 11 } },
      { action: 'show-percent', percent: 11 },
    ],
    [
      'an equal percentage is not shown',
      { seconds: 9, status: running({ percent: 10 }), run: active(), heard: { seconds: 9, percent: 10 } },
      { action: 'wait', until: at(69) },
    ],
    [
      'a smaller percentage of a later attempt is not shown',
      { seconds: 9, status: running({ attempt: 2, percent: 80 }), run: active(), heard: { seconds: 9, percent: 5 } },
      { action: 'wait', until: at(69) },
    ],
    [
      'a percentage waits for the end of the interval after the last one',
      {
        seconds: 9,
        status: running({ percent: 10 }),
        run: active(),
        heard: { seconds: 9, percent: 12 },
        more: { percentWrittenAt: at(8.7) },
      },
      { action: 'wait', until: at(9.2) },
    ],

    [
      '60 seconds without a first heartbeat lose the attempt when no node reports it',
      { seconds: 60, status: { attempt: 1 }, run: { ...active(), isOnReadyNode: false } as RunState },
      { action: 'lose', cause: 'no_heartbeat' },
    ],
    [
      'an attempt that was never heard is shown as silent after 60 seconds while its node reports it',
      { seconds: 60, status: { attempt: 1 }, run: active() },
      { action: 'show-silence' },
    ],
    [
      'an attempt that was never heard is not lost within ten minutes while its node reports it',
      { seconds: 599, status: { attempt: 1, reason: 'HeartbeatsMissing' }, run: active() },
      { action: 'wait', until: at(600) },
    ],
    [
      'an attempt that was never heard is lost after ten minutes',
      { seconds: 600, status: { attempt: 1, reason: 'HeartbeatsMissing' }, run: active() },
      { action: 'lose', cause: 'no_heartbeat' },
    ],
    [
      '60 seconds without a heartbeat to a new leader lose an attempt that was heard before',
      { seconds: 60, status: running(), run: active(), more: { listeningSince: at(0) } },
      { action: 'lose', cause: 'no_heartbeat' },
    ],
    [
      '60 seconds after the last heartbeat lose the attempt',
      { seconds: 160, status: running(), run: active(), heard: { seconds: 100, percent: 5 } },
      { action: 'lose', cause: 'no_heartbeat', message: 'no heartbeat for 60 seconds' },
    ],
    [
      '59 seconds after the last heartbeat do not lose the attempt',
      { seconds: 159, status: running({ percent: 5 }), run: active(), heard: { seconds: 100, percent: 5 } },
      { action: 'wait', until: at(160) },
    ],
    [
      'a run has 60 seconds for a heartbeat after the start of the controller',
      { seconds: 1000, status: running(), run: active(), more: { listeningSince: at(990) } },
      { action: 'wait', until: at(1050) },
    ],
    [
      'the status shows why a run cannot start',
      { status: { attempt: 1 }, run: { state: 'waiting', waitingFor: { reason: 'image', message: 'No image.' } } },
      { action: 'show-waiting', waitingFor: { reason: 'image', message: 'No image.' } },
    ],
    [
      'the status shows once why a run cannot start',
      {
        status: { attempt: 1, reason: 'WaitingForCapacity' },
        run: { state: 'waiting', waitingFor: { reason: 'capacity', message: 'Other words.' } },
      },
      { action: 'wait', until: at(60) },
    ],
    [
      'a run that has no node needs no heartbeat',
      { seconds: 600, status: { attempt: 1 }, run: { state: 'waiting', waitingFor: null } },
      { action: 'wait', until: at(660) },
    ],

    [
      'a run that the installation refuses is tried for five minutes',
      { seconds: 299, status: { attempt: 1, reason: 'PodRefused' }, run: refusedRun },
      { action: 'wait', until: at(300) },
    ],
    [
      'a run that the installation refuses for five minutes ends the job with internal',
      { seconds: 300, status: { attempt: 1, reason: 'PodRefused' }, run: refusedRun },
      {
        action: 'finish',
        reason: 'StartImpossible',
        outcome: { outcome: 'failed', error: { code: 'internal', message: expect.stringContaining('installation') } },
      },
    ],
    [
      'a refused run of a lost attempt is followed by the next',
      { seconds: 300, status: lostStatus(1), run: refusedRun },
      { action: 'start', attempt: 2 },
    ],
    [
      'a crashed run is a lost attempt',
      { status: running(), run: lost() },
      { action: 'lose', cause: 'crashed', message: 'exit code 1' },
    ],
    [
      'a run that vanished while the job ran is a lost attempt',
      { status: running() },
      { action: 'lose', cause: 'vanished' },
    ],
    [
      'a first run out of memory is a lost attempt',
      { status: running(), run: lost('out_of_memory'), more: { outOfMemory: 1 } },
      { action: 'lose', cause: 'out_of_memory' },
    ],
    [
      'a second run out of memory ends the job',
      { status: running({ attempt: 2 }), run: lost('out_of_memory'), more: { outOfMemory: 2 } },
      { action: 'finish', reason: 'OutOfMemory', outcome: { outcome: 'failed', error: { code: 'processing_failed' } } },
    ],
    [
      'the third lost attempt is recorded as such',
      { status: running({ attempt: 3 }), run: lost() },
      { action: 'lose', cause: 'crashed' },
    ],
    [
      'a recorded loss of the third attempt ends the job',
      { status: lostStatus(3), run: lost() },
      {
        action: 'finish',
        reason: 'AttemptsExhausted',
        outcome: {
          outcome: 'failed',
          error: {
            code: 'internal',
            message: expect.stringContaining('started 3 times and each attempt was lost'),
          },
        },
      },
    ],
    [
      'a MediaJob that is recreated after three attempts fails at once',
      { spec: { firstAttempt: 4 } },
      { action: 'finish', reason: 'AttemptsExhausted', outcome: { outcome: 'failed', error: { code: 'internal' } } },
    ],

    [
      'success is adopted',
      { status: running(), run: ended(SUCCEEDED) },
      { action: 'finish', reason: 'Succeeded', outcome: SUCCEEDED },
    ],
    [
      'success is adopted though no heartbeat was seen',
      { status: { attempt: 1 }, run: ended(SUCCEEDED) },
      { action: 'finish', reason: 'Succeeded' },
    ],
    [
      'success is adopted after all deadlines',
      { seconds: 9 * HOUR, status: running(), run: ended(SUCCEEDED) },
      { action: 'finish', reason: 'Succeeded' },
    ],
    [
      'a refused file ends the job with its error',
      { status: running(), run: ended(refused('encrypted_pdf')) },
      { action: 'finish', reason: 'FileRefused', outcome: refused('encrypted_pdf') },
    ],
    [
      "the worker's own time limit is the job's",
      { status: running(), run: ended(refused('timeout')) },
      { action: 'finish', reason: 'RunTimeout' },
    ],
    [
      "an engine's bug ends the job",
      { status: running(), run: ended(refused('internal')) },
      { action: 'finish', reason: 'EngineFault' },
    ],
    [
      'a report of another format than the job wants ends the job as the fault of the engine',
      { status: running(), run: ended(reported({ output_format: 'webm' })) },
      { action: 'finish', reason: 'EngineFault', outcome: { outcome: 'failed', error: { code: 'internal' } } },
    ],
    [
      'a report of another input than the stored one ends the job as the fault of the engine',
      { status: running(), run: ended(reported({ original_size: 1200, savings_percent: 50 })) },
      { action: 'finish', reason: 'EngineFault', outcome: { outcome: 'failed', error: { code: 'internal' } } },
    ],
    [
      'the outcome of a lost attempt is not adopted',
      { status: lostStatus(1), run: ended(SUCCEEDED) },
      { action: 'start', attempt: 2 },
    ],

    [
      '4 hours end the job',
      { seconds: 4 * HOUR, status: running(), run: active(), heard: { seconds: 4 * HOUR, percent: 50 } },
      {
        action: 'finish',
        reason: 'RunTimeout',
        outcome: { outcome: 'failed', error: { code: 'timeout', message: expect.stringContaining('4 hours') } },
      },
    ],
    [
      'the 4 hours include the wait for a further attempt',
      { seconds: 4 * HOUR, status: lostStatus(2, { startedAt: at(0).toISOString() }) },
      { action: 'finish', reason: 'RunTimeout' },
    ],
    [
      'the end of the 4 hours is waited for',
      {
        seconds: 4 * HOUR - 5,
        status: running({ percent: 50 }),
        run: active(),
        heard: { seconds: 4 * HOUR - 5, percent: 50 },
      },
      { action: 'wait', until: at(4 * HOUR) },
    ],
  ])('%s', (_sentence, situation, expected) => {
    expect(decide(LOCAL_TIMING, factsOf(situation))).toMatchObject(expected);
  });

  it('shows the percentage in steps of `percentStep`', () => {
    const timing = { ...LOCAL_TIMING, percentStep: 5 };
    const grown = (percent: number) =>
      factsOf({ seconds: 9, status: running({ percent: 10 }), run: active(), heard: { seconds: 9, percent } });
    expect(decide(timing, grown(14)).action).toBe('wait');
    expect(decide(timing, grown(15)).action).toBe('show-percent');
  });

  it('has one sentence for each rule', () => {
    expect(new Set(CHECKS.map(({ sentence }) => sentence)).size).toBe(CHECKS.length);
    for (const { sentence } of CHECKS) expect(sentence).toMatch(/^[A-Z].*\.$/);
  });
});
