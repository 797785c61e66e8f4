import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, readlink, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { completeRequest, makeLocalRuns, type LocalRuns } from '#controller/local-runs.ts';
import type { WorkerProcessesOptions } from '#controller/worker-processes.ts';
import { killProcessesOf, processesOf } from '#crds/process/process-tree.ts';
import { systemClock } from '#crds/process/clock.ts';
import { makeLog } from '#crds/process/log.ts';
import type { Run } from '#controller/runs.ts';
import { buildRunRequest, whenOver } from '#test/contract/runs.ts';
import { buildTicket } from '#test/support/build-media-job.ts';
import { makeDeepDirectory } from '#test/support/make-deep-directory.ts';

const scriptOf = (specifier: string): string => fileURLToPath(import.meta.resolve(specifier));
const WAIT = { timeout: 30_000, interval: 20 };

describe('makeLocalRuns', () => {
  let folder: string;
  let directory: string;
  const opened: LocalRuns[] = [];

  const open = async (options: Partial<WorkerProcessesOptions> = {}): Promise<LocalRuns> => {
    const runs = await makeLocalRuns(
      { clock: systemClock, log: makeLog('test', 'silent') },
      {
        script: scriptOf('#test/support/scripted-worker.ts'),
        directory,
        path: process.env['PATH'] ?? '',
        stdout: 'ignore',
        concurrency: 2,
        ...options,
      },
    );
    opened.push(runs);
    return runs;
  };
  /** Waits until the worker and its tool run. */
  const whenToolRuns = () => vi.waitFor(async () => expect(await processesOf(directory)).toHaveLength(2), WAIT);

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'mediajobs-runs-'));
    directory = join(folder, 'runs');
  });
  afterEach(async () => {
    for (const runs of opened.splice(0)) await runs.close();
    await killProcessesOf(directory);
    await rm(folder, { recursive: true, force: true });
  });

  it('starts a run of a second account while the first one has all permits and waiting runs', async () => {
    const runs = await open();
    for (const job of [1, 2])
      expect(await runs.start(await completeRequest(buildRunRequest('hang', job)))).toBe('started');
    expect(await runs.start(await completeRequest(buildRunRequest('hang', 3)))).toBe('no-capacity');
    const other = { ...buildRunRequest('succeed', 4), account: 'acc_00000000000000000002' };
    expect(await runs.start(await completeRequest(other))).toBe('started');
    expect((await whenOver(runs, other)).status.state).toBe('ended');
  });

  it('starts a worker with a private directory and a minimal environment', async () => {
    const runs = await open({ compileCache: '/var/cache/node', triedIsolation: () => 'bubblewrap' });
    const request = buildRunRequest('report-environment', 1, 2);
    await runs.start(await completeRequest(request));
    const { status } = await whenOver(runs, request);
    const own = join(directory, 'worker-1');
    expect(status).toMatchObject({
      outcome: {
        report: {
          tools: {
            HOME: own,
            TMPDIR: own,
            cwd: own,
            LANG: 'C.UTF-8',
            PATH: process.env['PATH'],
            NODE_COMPILE_CACHE: '/var/cache/node',
            MEDIAJOBS_TRIED_ISOLATION: 'bubblewrap',
            terminationFile: join(own, `${request.owner.name}-a2`, 'termination.json'),
            attempt: '2',
          },
        },
      },
    });
    expect(Object.keys((status as { outcome: { report: { tools: object } } }).outcome.report.tools)).toHaveLength(10);
  });

  it('passes the spec, which contains signed URLs, over a socket pair', async () => {
    const runs = await open();
    const request = buildRunRequest('hang');
    await runs.start(await completeRequest(request));
    await whenToolRuns();
    const own = join(directory, 'worker-1');
    expect((await stat(own)).mode & 0o777).toBe(0o700);
    expect((await stat(join(own, `${request.owner.name}-a1`))).mode & 0o777).toBe(0o700);
    const files = await readdir(directory, { recursive: true, withFileTypes: true });
    expect(files.filter((file) => !file.isDirectory())).toEqual([]);
    const [worker] = await processesOf(directory);
    expect(await readlink(`/proc/${worker}/fd/3`)).toMatch(/^socket:/);
    for (const name of ['cmdline', 'environ'])
      expect(await readFile(`/proc/${worker}/${name}`, 'utf8')).not.toContain(buildTicket().heartbeatTokens[0]);
  });

  it.each(['link-outcome', 'name-outcome-twice', 'pipe-outcome', 'folder-as-outcome', 'babble-much'])(
    'lose an attempt whose termination file is not a small file of its own: %s',
    async (behaviour) => {
      const runs = await open();
      const request = buildRunRequest(behaviour);
      await runs.start(await completeRequest(request));
      expect((await whenOver(runs, request)).status).toMatchObject({ state: 'lost', cause: 'crashed' });
      expect(await readdir(directory)).toEqual([]);
    },
  );

  it.each(['succeed', 'crash'])('deletes the files of a run that ended: %s', async (behaviour) => {
    const runs = await open();
    const request = buildRunRequest(behaviour);
    await runs.start(await completeRequest(request));
    await whenOver(runs, request);
    expect(await readdir(directory)).toEqual([]);
  });

  it.each(['hang', 'hang-ignoring-stop'])(
    'ends the processes and deletes the files of a stopped run: %s',
    async (behaviour) => {
      const runs = await open();
      const request = buildRunRequest(behaviour);
      await runs.start(await completeRequest(request));
      await whenToolRuns();
      await runs.stop(`${request.owner.name}-a1`);
      expect(await processesOf(directory)).toEqual([]);
      expect(await readdir(directory)).toEqual([]);
    },
  );

  it('stops every run when it is closed, and starts no more', async () => {
    const runs = await open();
    await runs.start(await completeRequest(buildRunRequest('hang', 1)));
    await runs.start(await completeRequest(buildRunRequest('hang-ignoring-stop', 2)));
    await runs.close();
    expect(await processesOf(directory)).toEqual([]);
    expect(await runs.start(await completeRequest(buildRunRequest('succeed', 3)))).toBe('no-capacity');
  });

  it('reports the SIGKILL of a worker', async () => {
    const runs = await open();
    const request = buildRunRequest('hang');
    await runs.start(await completeRequest(request));
    await whenToolRuns();
    const [worker] = (await processesOf(directory)).toSorted((a, b) => a - b);
    process.kill(worker ?? 0, 'SIGKILL');
    const { status } = await whenOver(runs, request);
    expect(status).toMatchObject({ state: 'lost', cause: 'crashed', message: 'its worker was killed by SIGKILL' });
    expect(await processesOf(directory)).toEqual([]);
  });

  it('deletes what an earlier controller has left, however deep it is', async () => {
    const left = join(directory, 'worker-1', 'work-1', 'file');
    await mkdir(left, { recursive: true });
    makeDeepDirectory(left);
    await open();
    expect(await readdir(directory)).toEqual([]);
  });

  it('rejects a request without the secret part of the spec', async () => {
    const request = { ...buildRunRequest('succeed'), ticket: async () => null };
    await expect(completeRequest(request)).rejects.toThrow('has no ticket');
  });

  it('rejects when a worker cannot be started, and releases its permit', async () => {
    const runs = await open({ concurrency: 1 });
    await rm(directory, { recursive: true });
    await writeFile(directory, 'no folder');
    await expect(runs.start(await completeRequest(buildRunRequest('succeed')))).rejects.toThrow(/ENOTDIR/);
    await rm(directory);
    await mkdir(directory);
    expect(await runs.start(await completeRequest(buildRunRequest('succeed')))).toBe('started');
  });

  describe('with processes that are kept ready', () => {
    const outcomeOf = async (runs: LocalRuns, behaviour: string, job: number): Promise<Run> => {
      const request = buildRunRequest(behaviour, job);
      await runs.start(await completeRequest(request));
      return whenOver(runs, request);
    };
    const pidOf = ({ status }: Run): string =>
      status.state === 'ended' && status.outcome.outcome === 'succeeded'
        ? (status.outcome.report.tools['pid'] ?? '')
        : '';
    const whenReady = (count: number) =>
      vi.waitFor(async () => expect(await processesOf(directory)).toHaveLength(count), WAIT);

    it('starts one before the first run, when that is allowed', async () => {
      const allowed = Promise.withResolvers<void>();
      await open({ ready: 1, mayStart: allowed.promise });
      expect(await readdir(directory)).toEqual([]);
      allowed.resolve();
      await whenReady(1);
    });

    it('runs one attempt after the other in the same process, and deletes the files of each', async () => {
      const runs = await open({ ready: 1, concurrency: 1 });
      const first = pidOf(await outcomeOf(runs, 'report-environment', 1));
      expect(await readdir(join(directory, 'worker-1'))).toEqual([]);
      expect(pidOf(await outcomeOf(runs, 'report-environment', 2))).toBe(first);
      expect(first).not.toBe('');
    });

    it.each(['crash', 'babble'])('replaces a process whose attempt left no outcome: %s', async (behaviour) => {
      const runs = await open({ ready: 1, concurrency: 1 });
      const first = pidOf(await outcomeOf(runs, 'report-environment', 1));
      expect((await outcomeOf(runs, behaviour, 2)).status).toMatchObject({ state: 'lost', cause: 'crashed' });
      const next = pidOf(await outcomeOf(runs, 'report-environment', 3));
      expect(next).not.toBe('');
      expect(next).not.toBe(first);
    });

    it('replaces a process that the system ends while it is idle', async () => {
      await open({ ready: 1, concurrency: 1 });
      await whenReady(1);
      const [first] = await processesOf(directory);
      process.kill(first ?? 0, 'SIGKILL');
      await vi.waitFor(async () => {
        const now = await processesOf(directory);
        expect(now).toHaveLength(1);
        expect(now).not.toEqual([first]);
      }, WAIT);
    });

    it('does not stop the attempt that a process runs now when an earlier one of it is stopped', async () => {
      const runs = await open({ ready: 1, concurrency: 1 });
      const ended = await outcomeOf(runs, 'report-environment', 1);
      const request = buildRunRequest('hang', 2);
      await runs.start(await completeRequest(request));
      await whenToolRuns();
      await runs.stop(ended.name);
      expect((await runs.observe(request.owner.name)).map(({ status }) => status.state)).toEqual(['active']);
      expect((await runs.observe(ended.owner.name)).map(({ status }) => status.state)).toEqual(['ended']);
    });

    it('ends idle processes when it is closed', async () => {
      const runs = await open({ ready: 2 });
      await whenReady(2);
      await runs.close();
      expect(await processesOf(directory)).toEqual([]);
      expect(await readdir(directory)).toEqual([]);
    });
  });

  describe('when the controller is killed', () => {
    const crash = async (behaviour: string): Promise<void> => {
      const host = spawn(process.execPath, [scriptOf('#test/support/runs-host.ts'), directory, behaviour], {
        stdio: 'ignore',
      });
      const exited = once(host, 'exit');
      try {
        await whenToolRuns();
      } finally {
        host.kill('SIGKILL');
        await exited;
      }
    };

    it('leaves workers that end themselves and their tools', async () => {
      await crash('hang');
      await vi.waitFor(async () => expect(await processesOf(directory)).toEqual([]), WAIT);
    });

    it('ends an unresponsive worker at the next start and deletes its files', async () => {
      await crash('hang-ignoring-stop');
      expect(await processesOf(directory)).toHaveLength(2);
      await open();
      expect(await processesOf(directory)).toEqual([]);
      expect(await readdir(directory)).toEqual([]);
    });
  });
});
