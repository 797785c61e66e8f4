import { describe, expect, it } from 'vitest';
import { NEVER_SUSPENDED } from '#controller/collective-silence.ts';
import { gatherFacts } from '#controller/gather-facts.ts';
import { runName, type Run, type RunState } from '#controller/runs.ts';
import type { JobFacts } from '#controller/facts.ts';
import { LABELS } from '#crds/contract/names.ts';
import type { RunOutcome } from '#crds/contract/run-spec.ts';
import type { MediaJob, MediaJobStatus } from '#crds/contract/media-job.ts';
import { buildSpec, buildStatus } from '#test/support/build-media-job.ts';

const NOW = new Date('2026-01-01T00:10:00Z');
const ACTIVE: RunState = { state: 'active', startedAt: NOW, isOnReadyNode: true };
const OUT_OF_MEMORY: RunState = { state: 'lost', cause: 'out_of_memory', message: 'out of memory' };

function buildMediaJob(status: MediaJobStatus | null, firstAttempt = 1): MediaJob {
  const metadata = {
    name: 'job-1',
    uid: 'uid',
    resourceVersion: '1',
    creationTimestamp: NOW.toISOString(),
    labels: { [LABELS.dispatch]: 'nonce' },
  };
  return { metadata, spec: buildSpec({ firstAttempt }), ...(status === null ? {} : { status }) };
}

function buildRun(attempt: number, status: RunState, uid = 'uid'): Run {
  return { name: runName('job-1', attempt), owner: { name: 'job-1', uid }, attempt, node: null, status };
}

function gather(
  mediaJob: MediaJob | null,
  runs: readonly Run[],
  outcome: (job: string, attempt: number, dispatch: string) => RunOutcome | null = () => null,
): Promise<JobFacts> {
  return gatherFacts(
    {
      clock: { now: () => NOW },
      mediaJobs: { isUnclaimed: async () => false, get: async () => mediaJob },
      runs: { observe: async () => runs },
      heartbeats: { since: NOW, last: (_job, attempt) => ({ firstAt: NOW, lastAt: NOW, percent: attempt }), outcome },
      silenceRule: () => NEVER_SUSPENDED,
      percentWrites: new Map([['job-1', NOW]]),
    },
    'job-1',
  );
}

describe('gatherFacts', () => {
  it('selects run and heartbeat of the attempt in the status', async () => {
    const [lost, active] = [buildRun(1, OUT_OF_MEMORY), buildRun(2, ACTIVE)];
    const facts = await gather(buildMediaJob(buildStatus({ attempt: 2 })), [lost, active]);
    expect(facts).toMatchObject({ attempt: 2, run: active, strays: [], outOfMemory: 1, percentWrittenAt: NOW });
    expect(facts.heartbeat?.percent).toBe(2);
  });

  it('counts the first run of a MediaJob as its attempt before the status names it', async () => {
    expect(await gather(buildMediaJob(null), [buildRun(1, ACTIVE)])).toMatchObject({ attempt: 1 });
    expect(await gather(buildMediaJob(null, 3), [buildRun(3, ACTIVE)])).toMatchObject({ attempt: 3 });
    expect(await gather(buildMediaJob(null, 3), [])).toMatchObject({ attempt: 2, run: null });
  });

  it('reports unfinished runs of earlier attempts and of an earlier MediaJob as strays', async () => {
    const [earlier, foreign] = [buildRun(1, ACTIVE), buildRun(2, ACTIVE, 'earlier')];
    const facts = await gather(buildMediaJob(buildStatus({ attempt: 2 })), [
      earlier,
      foreign,
      buildRun(3, OUT_OF_MEMORY),
    ]);
    expect(facts).toMatchObject({ run: null, strays: [earlier, foreign] });
  });

  it('has neither attempt nor heartbeat of a deleted MediaJob', async () => {
    const active = buildRun(1, ACTIVE);
    expect(await gather(null, [active])).toMatchObject({
      mediaJob: null,
      attempt: 0,
      run: null,
      heartbeat: null,
      strays: [active],
    });
  });

  it('takes a run as ended when its worker has reported its outcome, for that attempt and MediaJob only', async () => {
    const failed: RunOutcome = { outcome: 'failed', error: { code: 'encrypted_pdf', message: 'No.' } };
    const reported = (_job: string, attempt: number, dispatch: string) =>
      attempt === 2 && dispatch === 'nonce' ? failed : null;
    const mediaJob = buildMediaJob(buildStatus({ attempt: 2 }));
    const facts = await gather(mediaJob, [buildRun(2, ACTIVE)], reported);
    expect(facts.run?.status).toEqual({ state: 'ended', startedAt: NOW, outcome: failed });
    expect(facts.strays).toEqual([]);
    const lost = await gather(mediaJob, [buildRun(2, OUT_OF_MEMORY)], reported);
    expect(lost.run?.status).toEqual(OUT_OF_MEMORY);
    const first = await gather(buildMediaJob(buildStatus({ attempt: 1 })), [buildRun(1, ACTIVE)], reported);
    expect(first.run?.status).toEqual(ACTIVE);
  });
});
