import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { completeRequest, makeLocalRuns, type LocalRuns, type LocalRunsOptions } from '#controller/local-runs.ts';
import { killProcessesOf, processesOf } from '#crds/process/process-tree.ts';
import { systemClock } from '#crds/process/clock.ts';
import { makeLog } from '#crds/process/log.ts';
import { buildRunRequest, whenOver } from '#test/contract/runs.ts';

const scriptOf = (specifier: string): string => fileURLToPath(import.meta.resolve(specifier));
const WAIT = { timeout: 30_000, interval: 20 };

describe('makeLocalRuns', () => {
  let folder: string;
  let directory: string;
  const opened: LocalRuns[] = [];

  const open = async (options: Partial<LocalRunsOptions> = {}): Promise<LocalRuns> => {
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
    expect((await whenOver(runs, other)).is.state).toBe('ended');
  });

  it('starts a worker with a private directory and a minimal environment', async () => {
    const runs = await open({ compileCache: '/var/cache/node', triedIsolation: () => 'bubblewrap' });
    const request = buildRunRequest('report-environment', 1, 2);
    await runs.start(await completeRequest(request));
    const { is } = await whenOver(runs, request);
    const own = join(directory, `${request.owner.name}-a2`);
    expect(is).toMatchObject({
      outcome: {
        report: {
          tools: {
            HOME: own,
            TMPDIR: own,
            cwd: own,
            LANG: 'C.UTF-8',
            PATH: process.env['PATH'],
            NODE_COMPILE_CACHE: '/var/cache/node',
            MEDIAJOBS_RUN_SPEC_FILE: '/proc/self/fd/3',
            MEDIAJOBS_TERMINATION_FILE: join(own, 'termination.json'),
            MEDIAJOBS_TRIED_ISOLATION: 'bubblewrap',
            attempt: '2',
          },
        },
      },
    });
    expect(Object.keys((is as { outcome: { report: { tools: object } } }).outcome.report.tools)).toHaveLength(10);
  });

  it('passes the spec, which contains signed URLs, in an unlinked file', async () => {
    const runs = await open();
    const request = buildRunRequest('hang');
    await runs.start(await completeRequest(request));
    const own = join(directory, `${request.owner.name}-a1`);
    expect((await stat(own)).mode & 0o777).toBe(0o700);
    expect((await readdir(own)).filter((name) => name !== 'tool')).toEqual([]);
    await whenToolRuns();
    const pids = await processesOf(directory);
    const specs = await Promise.all(pids.map((pid) => stat(`/proc/${pid}/fd/3`).catch(() => null)));
    expect(specs.filter((spec) => spec !== null)).toMatchObject([{ nlink: 0, mode: 0o100600 }]);
  });

  it.each(['link-outcome', 'name-outcome-twice', 'pipe-outcome', 'folder-as-outcome', 'babble-much'])(
    'lose an attempt whose termination file is not a small file of its own: %s',
    async (behaviour) => {
      const runs = await open();
      const request = buildRunRequest(behaviour);
      await runs.start(await completeRequest(request));
      expect((await whenOver(runs, request)).is).toMatchObject({ state: 'lost', cause: 'crashed' });
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
    const { is } = await whenOver(runs, request);
    expect(is).toMatchObject({ state: 'lost', cause: 'crashed', message: 'its worker was killed by SIGKILL' });
    expect(await processesOf(directory)).toEqual([]);
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
