import { mkdtemp, open, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MediaError } from '#crds/contract/media-error.ts';
import { MissingTool } from '#worker-image/tools/find-tool.ts';
import { makeRunCommand, ToolKilled, type Command } from '#worker-image/tools/run-command.ts';

const run = makeRunCommand();
let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'run-command-'));
});
afterEach(() => rm(directory, { recursive: true }));

function shell(script: string, more: Partial<Command> = {}): Command {
  return {
    file: 'bash',
    args: ['-c', script],
    directory,
    signal: new AbortController().signal,
    timeoutSeconds: 30,
    ...more,
  };
}

describe('runCommand', () => {
  it('returns exit code and both outputs', async () => {
    expect(await run(shell('echo out; echo err >&2; exit 3'))).toEqual({
      exitCode: 3,
      stdout: 'out\n',
      stderr: 'err\n',
    });
  });

  it('returns 128 plus its number for a signal', async () => {
    expect((await run(shell('kill -SEGV $$'))).exitCode).toBe(139);
  });

  it('throws ToolKilled when another process killed the tool', async () => {
    await expect(run(shell('kill -KILL $$'))).rejects.toThrow(ToolKilled);
  });

  it('passes on nothing of its own environment', async () => {
    process.env.SECRET_OF_THE_PARENT = 'x';
    const { stdout } = await run({ ...shell(''), file: 'env', args: [], env: { EXTRA: '1' } });
    delete process.env.SECRET_OF_THE_PARENT;
    const names = stdout
      .trim()
      .split('\n')
      .map((line) => line.split('=')[0]);
    expect(new Set(names)).toEqual(new Set(['EXTRA', 'HOME', 'LANG', 'PATH', 'TMPDIR']));
    expect(stdout).toContain(`HOME=${directory}\n`);
  });

  it('sends text that is known later, from which on the time limit counts', async () => {
    const text = Promise.withResolvers<string>();
    const started = Promise.withResolvers<void>();
    const onLine = (): void => started.resolve();
    const sent = run(shell('echo started; cat', { input: text.promise, onLine, timeoutSeconds: 5 }));
    await started.promise;
    text.resolve('a line\n');
    expect((await sent).stdout).toBe('started\na line\n');
  });

  it('closes the input when there is no text', async () => {
    const text = Promise.withResolvers<string>();
    const started = Promise.withResolvers<void>();
    const onLine = (): void => started.resolve();
    const ended = run(shell('echo started; cat; exit 4', { input: text.promise, onLine }));
    await started.promise;
    text.reject(new Error('no text'));
    const { exitCode, stdout } = await ended;
    expect({ exitCode, stdout }).toEqual({ exitCode: 4, stdout: 'started\n' });
  });

  it('runs the tool in the private directory with a closed input', async () => {
    expect((await run(shell('pwd; cat'))).stdout).toBe(`${directory}\n`);
  });

  it('kills the descendants that the tool left running', async () => {
    await run(shell('sleep 600 & echo $! > pid; disown'));
    await expect.poll(() => isRunning(join(directory, 'pid'))).toBe(false);
  });

  // Promise, Bad input, case by case: Busy, hanging and crashing engines
  it('kills the whole tree at the time limit and throws timeout', async () => {
    const late = run(shell('(sleep 600 & echo $! > pid; wait)', { timeoutSeconds: 0.5 }));
    await expect(late).rejects.toMatchObject({ code: 'timeout' });
    await expect.poll(() => isRunning(join(directory, 'pid'))).toBe(false);
  });

  it('kills the whole tree on abort and throws the reason', async () => {
    const stop = new AbortController();
    const reason = new MediaError('canceled', 'The job was canceled.');
    const aborted = run(
      shell('sleep 600 & echo $! > pid; echo started; wait', { signal: stop.signal, onLine: () => stop.abort(reason) }),
    );
    await expect(aborted).rejects.toBe(reason);
    await expect.poll(() => isRunning(join(directory, 'pid'))).toBe(false);
  });

  it('starts no tool when the signal is aborted already', async () => {
    const signal = AbortSignal.abort(new Error('over'));
    await expect(run(shell('touch made', { signal }))).rejects.toThrow('over');
    await expect(stat(join(directory, 'made'))).rejects.toThrow('ENOENT');
  });

  it('keeps the first 64 KiB of a long output without stopping the tool', async () => {
    const { stdout, exitCode } = await run(shell('head -c 10000000 /dev/zero | tr "\\0" x; exit 7'));
    expect(stdout.length).toBe(64 * 1024);
    expect(exitCode).toBe(7);
  });

  it('calls onLine for each line, even for a last one without its newline', async () => {
    const lines: string[] = [];
    await run(shell('printf "one\\ntwo\\nthr"; printf ee', { onLine: (line) => lines.push(line) }));
    expect(lines).toEqual(['one', 'two', 'three']);
  });

  it('limits the size of a file', async () => {
    const { exitCode } = await run({
      ...shell(''),
      file: 'dd',
      args: ['if=/dev/zero', 'of=big', 'bs=1000', 'count=500'],
      maxFileBytes: 100_000,
    });
    expect(exitCode).not.toBe(0);
    expect((await stat(join(directory, 'big'))).size).toBe(100_000);
  });

  it('limits processor time, files, core dumps and memory', async () => {
    const { stdout } = await run({ ...shell(''), file: 'cat', args: ['/proc/self/limits'], timeoutSeconds: 7 });
    const soft = (name: string): string => new RegExp(`^Max ${name} +(\\S+)`, 'm').exec(stdout)?.[1] ?? '';
    expect(Number(soft('cpu time'))).toBe(7 * availableParallelism() + 1);
    expect([soft('open files'), soft('core file size')]).toEqual(['1024', '0']);
    expect(Number(soft('data size'))).toBeLessThan(totalmem());
    expect(Number(soft('file size'))).toBeGreaterThan(0);
    if (process.getuid?.() !== 0) expect(soft('processes')).toBe('4096');
  });

  it('starts the tool as the leader of its own process group', async () => {
    const { stdout } = await run(shell('ps -o pgid= -p $$; echo $$'));
    const [group, pid] = stdout.trim().split(/\s+/);
    expect(group).toBe(pid);
  });

  it('names the Debian package of a tool that is missing', async () => {
    const lacking = run({ ...shell(''), file: 'no-such-tool' });
    await expect(lacking).rejects.toThrow(MissingTool);
    await expect(lacking).rejects.toThrow('The tool no-such-tool is not installed on this machine. Install it.');
  });

  it('passes on one open file', async () => {
    await writeFile(join(directory, 'open'), 'by its descriptor');
    const file = await open(join(directory, 'open'));
    const { stdout } = await run(shell('cat <&9', { inherited: file.fd }));
    await file.close();
    expect(stdout).toBe('by its descriptor');
  });

  it('reports start and end of the process group', async () => {
    const reported: boolean[] = [];
    await makeRunCommand({ onGroup: (_pid, alive) => reported.push(alive) })(shell('true'));
    expect(reported).toEqual([true, false]);
  });
});

/** Returns whether the process runs. A killed one may be a zombie until its new parent has read its exit status. */
async function isRunning(pidFile: string): Promise<boolean> {
  const pid = (await readFile(pidFile, 'utf8')).trim();
  const status = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null);
  return status !== null && !/\) [ZX] /.test(status);
}
