import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, describe, expect, it } from 'vitest';
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
