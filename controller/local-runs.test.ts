import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { makeLocalRuns, type LocalRuns, type LocalRunsOptions } from '#controller/local-runs.ts';
import { killProcessesOf, processesOf } from '#controller/process-tree.ts';
import { systemClock } from '#crds/shared/clock.ts';
import { makeLog } from '#crds/shared/log.ts';
import { buildRunRequest, whenOver } from '#test/contract/runs.ts';

const scriptOf = (specifier: string): string => fileURLToPath(import.meta.resolve(specifier));
const WAIT = { timeout: 10_000, interval: 20 };

describe('local runs', () => {
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
        atOnce: 2,
        ...options,
      },
    );
    opened.push(runs);
    return runs;
  };
  /** The worker and its tool. */
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

  it('give a worker its private directory and a minimal environment', async () => {
    const runs = await open({ compileCache: '/var/cache/node' });
    const request = buildRunRequest('report-environment', 1, 2);
    await runs.start(request);
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
            MEDIAJOBS_RUN_SPEC_FILE: join(own, 'run-spec.json'),
            MEDIAJOBS_TERMINATION_FILE: join(own, 'termination.json'),
            attempt: '2',
          },
        },
      },
    });
    expect(Object.keys((is as { outcome: { report: { tools: object } } }).outcome.report.tools)).toHaveLength(9);
  });

  it('let nobody else read the spec, which holds signed URLs', async () => {
    const runs = await open();
    const request = buildRunRequest('hang');
    await runs.start(request);
    const own = join(directory, `${request.owner.name}-a1`);
    expect((await stat(own)).mode & 0o777).toBe(0o700);
    expect((await stat(join(own, 'run-spec.json'))).mode & 0o777).toBe(0o600);
  });

  it.each(['succeed', 'crash'])('leave no file of a run that ended: %s', async (behaviour) => {
    const runs = await open();
    const request = buildRunRequest(behaviour);
    await runs.start(request);
    await whenOver(runs, request);
    expect(await readdir(directory)).toEqual([]);
  });

  it.each(['hang', 'hang-deaf'])('leave no process and no file of a run that is stopped: %s', async (behaviour) => {
    const runs = await open();
    const request = buildRunRequest(behaviour);
    await runs.start(request);
    await whenToolRuns();
    await runs.stop(`${request.owner.name}-a1`);
    expect(await processesOf(directory)).toEqual([]);
    expect(await readdir(directory)).toEqual([]);
  });

  it('stop every run when they close, and start no more', async () => {
    const runs = await open();
    await runs.start(buildRunRequest('hang', 1));
    await runs.start(buildRunRequest('hang-deaf', 2));
    await runs.close();
    expect(await processesOf(directory)).toEqual([]);
    expect(await runs.start(buildRunRequest('succeed', 3))).toBe('no-capacity');
  });

  it('name the SIGKILL of a worker', async () => {
    const runs = await open();
    const request = buildRunRequest('hang');
    await runs.start(request);
    await whenToolRuns();
    const [worker] = (await processesOf(directory)).toSorted((a, b) => a - b);
    process.kill(worker ?? 0, 'SIGKILL');
    const { is } = await whenOver(runs, request);
    expect(is).toMatchObject({ state: 'lost', cause: 'crashed', message: 'its worker was killed by SIGKILL' });
    expect(await processesOf(directory)).toEqual([]);
  });

  it('say it to the caller when the secret part of the spec is missing', async () => {
    const runs = await open({ atOnce: 1 });
    const request = { ...buildRunRequest('succeed'), ticket: async () => null };
    await expect(runs.start(request)).rejects.toThrow('has no ticket');
    expect(await runs.start(buildRunRequest('succeed'))).toBe('started');
  });

  it('say it to the caller when a worker cannot be started, and keep its place free', async () => {
    const runs = await open({ atOnce: 1 });
    await rm(directory, { recursive: true });
    await writeFile(directory, 'no folder');
    await expect(runs.start(buildRunRequest('succeed'))).rejects.toThrow(/ENOTDIR/);
    await rm(directory);
    await mkdir(directory);
    expect(await runs.start(buildRunRequest('succeed'))).toBe('started');
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

    it('its workers end themselves and their tools', async () => {
      await crash('hang');
      await vi.waitFor(async () => expect(await processesOf(directory)).toEqual([]), WAIT);
    });

    it('the next one ends a worker that is deaf, and removes what was left', async () => {
      await crash('hang-deaf');
      expect(await processesOf(directory)).toHaveLength(2);
      await open();
      expect(await processesOf(directory)).toEqual([]);
      expect(await readdir(directory)).toEqual([]);
    });
  });
});
