import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, describe, expect, it } from 'vitest';
import { cpuBudgetSeconds } from '#worker-image/sandbox/cpu-budget.ts';
import { isOverBudget, withCpuWatch } from '#worker-image/sandbox/cpu-watch.ts';

const LOOP = 'for (;;);';
let running: ChildProcess | null = null;

afterEach(() => {
  // Kills the group: a process that the script started would loop on.
  if (running?.pid !== undefined) process.kill(-running.pid, 'SIGKILL');
  running = null;
});

/** Starts a process that runs the script, or whose child process runs it, and returns the id of the first one. */
function start(script: string, inChild = false): number {
  const inner = `require('node:child_process').spawn(process.execPath, ['-e', ${JSON.stringify(script)}]); process.stdin.resume()`;
  running = spawn(process.execPath, ['-e', inChild ? inner : script], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  return running.pid ?? 0;
}

/** Throws the signal's reason once it is aborted. */
async function untilAborted(signal: AbortSignal): Promise<never> {
  if (!signal.aborted) await once(signal, 'abort');
  throw signal.reason;
}

describe('withCpuWatch', () => {
  it.each([
    ['a process that never yields', false],
    ['a tool of a process that does nothing', true],
  ])('aborts the work of %s once its budget is used', async (_what, inChild) => {
    const work = withCpuWatch({
      pid: start(LOOP, inChild),
      path: import.meta.filename,
      signal: new AbortController().signal,
      work: ({ signal, setBudget }) => {
        setBudget(1);
        return untilAborted(signal);
      },
    });
    const error: unknown = await work.catch((reason: unknown) => reason);
    expect(error).toMatchObject({
      code: 'processing_failed',
      message: expect.stringMatching(
        /^The work used [1-9] seconds of CPU time; a file of this kind and size may use 1\./,
      ),
    });
    expect(isOverBudget(error)).toBe(true);
  });

  it("throws the reason of the caller's signal", async () => {
    const stop = new AbortController();
    const reason = new Error('stopped');
    const work = withCpuWatch({
      pid: start(LOOP),
      path: import.meta.filename,
      signal: stop.signal,
      work: ({ signal }) => untilAborted(signal),
    });
    stop.abort(reason);
    await expect(work).rejects.toBe(reason);
  });
});

describe('cpuBudgetSeconds', () => {
  const tiny = { kind: 'pdf', size: 2500 } as const;

  it('grows by less than 20 seconds for all pages that a small PDF declares', () => {
    const one = cpuBudgetSeconds(tiny, { pages: 1 });
    expect(cpuBudgetSeconds(tiny, { pages: 2000 })).toBeLessThan(one + 20);
  });

  it.each([
    ['size', { kind: 'pdf', size: 5e6 }, { pages: 1 }],
    ['pages', { kind: 'pdf', size: 100_000 }, { pages: 40 }],
    ['pixels', { kind: 'image', size: 2500 }, { width: 10_000, height: 10_000, frames: 1 }],
    ['frames', { kind: 'image', size: 2500 }, { width: 1000, height: 1000, frames: 100 }],
    ['length', { kind: 'audio', size: 2500 }, { durationSeconds: 3600 }],
  ] as const)('grows with the %s of a file', (_what, input, facts) => {
    expect(cpuBudgetSeconds(input, facts)).toBeGreaterThan(2 * cpuBudgetSeconds({ ...input, size: 2500 }, {}));
  });
});
