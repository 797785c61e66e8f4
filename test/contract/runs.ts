import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isUnfinishedRun, type Run, type RunOwner, type RunRequest, type Runs } from '#controller/runs.ts';
import { buildRunSpec } from '#controller/run-spec.ts';
import { LOCAL_TIMING } from '#controller/timing.ts';
import { mediaJobName } from '#crds/contract/names.ts';
import { buildSpec, buildTicket, jobIdOf } from '#test/support/build-media-job.ts';

export interface TestedRuns {
  readonly runs: Runs;
  /** Maximum number of concurrent runs. */
  readonly slots: number;
  /** Creates what a run needs, where runs require their MediaJob. Returns its owner. */
  readonly adopt?: (request: RunRequest) => Promise<RunOwner>;
  close(): Promise<void>;
}

/** Returns a request for a run of `test/support/scripted-worker.ts` with the given behavior. */
export function buildRunRequest(behaviour: string, job = 1, attempt = 1): RunRequest {
  const spec = buildSpec({ jobId: jobIdOf(job) });
  const name = mediaJobName(spec.jobId);
  const mediaJob = {
    metadata: { name, uid: `uid-${job}`, resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z', labels: {} },
    spec,
  };
  const heartbeatUrl = 'http://127.0.0.1:1/heartbeat';
  return {
    owner: { name, uid: `uid-${job}` },
    attempt,
    kind: spec.kind,
    account: spec.account,
    dispatch: 'nonce',
    spec: buildRunSpec(LOCAL_TIMING, { mediaJob, attempt, heartbeatUrl, now: new Date(), isTraced: false }),
    ticket: async () => buildTicket({ filename: behaviour }),
    secretName: `${name}-${attempt}`,
  };
}

type Watched = Pick<Runs, 'observe' | 'watch'>;

/** Resolves with the run of that attempt as soon as it is finished. */
export function whenOver(runs: Watched, request: RunRequest): Promise<Run> {
  return whenRun(runs, request, (run) => !isUnfinishedRun(run));
}

/** Resolves with the request as soon as its run is active. */
async function whenActive(runs: Runs, request: RunRequest): Promise<RunRequest> {
  await whenRun(runs, request, ({ status }) => status.state === 'active');
  return request;
}

function whenRun(runs: Watched, { owner, attempt }: RunRequest, satisfies: (run: Run) => boolean): Promise<Run> {
  const ended = new AbortController();
  return new Promise<Run>((resolve, reject) => {
    const look = (): void =>
      void runs.observe(owner.name).then((seen) => {
        const run = seen.find((candidate) => candidate.attempt === attempt);
        if (run !== undefined && satisfies(run)) resolve(run);
      }, reject);
    runs.watch((name) => {
      if (name === owner.name) look();
    }, ended.signal);
    look();
  }).finally(() => ended.abort());
}

/** Conformance tests of `Runs`, run against every implementation with the scripted worker. */
export function describeRuns(name: string, makeRuns: () => Promise<TestedRuns>): void {
  describe(`Runs: ${name}`, () => {
    let tested: TestedRuns;
    let runs: Runs;

    beforeEach(async () => {
      tested = await makeRuns();
      runs = tested.runs;
    });
    afterEach(() => tested.close());

    const start = async (...parts: Parameters<typeof buildRunRequest>): Promise<RunRequest> => {
      const request = await requested(...parts);
      expect(await runs.start(request)).toBe('started');
      return request;
    };

    const requested = async (...parts: Parameters<typeof buildRunRequest>): Promise<RunRequest> => {
      const request = buildRunRequest(...parts);
      return { ...request, owner: (await tested.adopt?.(request)) ?? request.owner };
    };

    /** Starts runs that hang until no slot is free. */
    const fill = async (): Promise<RunRequest[]> => {
      const requests: RunRequest[] = [];
      for (let job = 1; job <= tested.slots; job += 1) requests.push(await start('hang', job));
      return requests;
    };

    it('returns an active run with owner, attempt and node', async () => {
      const { owner } = await whenActive(runs, await start('hang'));
      expect(await runs.observe(owner.name)).toEqual([
        {
          name: `${owner.name}-a1`,
          owner,
          attempt: 1,
          node: expect.any(String),
          status: { state: 'active', startedAt: expect.any(Date), isOnReadyNode: expect.any(Boolean) },
        },
      ]);
      expect(await runs.list()).toEqual(await runs.observe(owner.name));
    });

    it('ends with the outcome of a worker that succeeded', async () => {
      const { status } = await whenOver(runs, await start('succeed'));
      expect(status).toMatchObject({
        state: 'ended',
        outcome: { outcome: 'succeeded', report: { result: { output_size: 600 } } },
      });
    });

    it('ends with the outcome of a worker that refused the file', async () => {
      const { status } = await whenOver(runs, await start('refuse'));
      expect(status).toMatchObject({
        state: 'ended',
        outcome: { outcome: 'failed', error: { code: 'encrypted_pdf' } },
      });
    });

    it.each([
      ['ended without an outcome', 'crash', 'crashed'],
      ['left half an outcome', 'babble', 'crashed'],
      ['left too long an outcome', 'babble-much', 'crashed'],
      ['ran out of memory', 'out-of-memory', 'out_of_memory'],
    ])('is lost when the worker %s', async (_what, behaviour, cause) => {
      const { status } = await whenOver(runs, await start(behaviour));
      expect(status).toMatchObject({ state: 'lost', cause });
    });

    it('starts an attempt once only', async () => {
      const request = await start('hang');
      expect(await runs.start(request)).toBe('exists');
      expect(await runs.list()).toHaveLength(1);
    });

    it('does not start an attempt again that has ended', async () => {
      const request = await start('succeed');
      await whenOver(runs, request);
      expect(await runs.start(request)).toBe('exists');
    });

    it('remembers each attempt of a MediaJob', async () => {
      await whenOver(runs, await start('crash', 1, 1));
      const { owner } = await whenActive(runs, await start('hang', 1, 2));
      const seen = await runs.observe(owner.name);
      expect(
        seen.toSorted((a, b) => a.attempt - b.attempt).map(({ attempt, status }) => [attempt, status.state]),
      ).toEqual([
        [1, 'lost'],
        [2, 'active'],
      ]);
    });

    it('has no capacity while every slot is in use', async () => {
      const [first] = await fill();
      const late = await requested('hang', 99);
      expect(await runs.start(late)).toBe('no-capacity');
      expect(await runs.reserve(`${late.owner.name}-a1`, late)).toBe(false);
      await runs.stop(`${first?.owner.name}-a1`);
      expect(await runs.start(late)).toBe('started');
    });

    it('starts the run of another account before further runs of the account that has all slots', async () => {
      const [first] = await fill();
      const further = await requested('hang', 98);
      const other = { ...(await requested('hang', 99)), account: 'acc_00000000000000000002' };
      expect(await runs.start(further)).toBe('no-capacity');
      // Where accounts without a run have an extra slot, it gets that one.
      await runs.reserve(`${other.owner.name}-a1`, other);
      await runs.stop(`${first?.owner.name}-a1`);
      expect(await runs.start(further)).toBe('no-capacity');
      expect(await runs.start(other)).toBe('started');
    });

    it('keeps a reserved slot for its run', async () => {
      const mine = await requested('hang', 99);
      expect(await runs.reserve(`${mine.owner.name}-a1`, mine)).toBe(true);
      expect(await runs.reserve(`${mine.owner.name}-a1`, mine)).toBe(true);
      for (let job = 1; job < tested.slots; job += 1) await start('hang', job);
      expect(await runs.start(await requested('hang', 98))).toBe('no-capacity');
      expect(await runs.start(mine)).toBe('started');
    });

    it('releases a reserved slot that is not used, and notifies of it', async () => {
      const mine = await requested('hang', 99);
      const ended = new AbortController();
      const changed: string[] = [];
      runs.watch((changedName) => changed.push(changedName), ended.signal);
      await runs.reserve(`${mine.owner.name}-a1`, mine);
      await runs.stop(`${mine.owner.name}-a1`);
      expect(changed).toEqual([mine.owner.name]);
      await fill();
      ended.abort();
    });

    it('loses a run that is stopped', async () => {
      const request = await start('hang');
      await runs.stop(`${request.owner.name}-a1`);
      const { status } = await whenOver(runs, request);
      expect(status).toMatchObject({ state: 'lost', cause: 'stopped' });
    });

    it('keeps the outcome of a run that is stopped too late', async () => {
      const request = await start('succeed');
      await whenOver(runs, request);
      await runs.stop(`${request.owner.name}-a1`);
      expect((await whenOver(runs, request)).status.state).toBe('ended');
    });

    it('ignores the stop of a run that does not exist', async () => {
      await expect(runs.stop('job-unknown-a1')).resolves.toBeUndefined();
      await expect(runs.release('job-unknown')).resolves.toBeUndefined();
    });

    it('forgets every run of a released MediaJob, and stops the active ones', async () => {
      await whenOver(runs, await start('crash', 1, 1));
      const { owner } = await start('hang', 1, 2);
      const other = await start('hang', 2);
      await runs.release(owner.name);
      expect(await runs.observe(owner.name)).toEqual([]);
      expect((await runs.list()).map((run) => run.owner.name)).toEqual([other.owner.name]);
    });
  });
}
