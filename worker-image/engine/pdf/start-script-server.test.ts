import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { engineDeps, freshDirectory, runHandler, workOn } from '#test/fixtures/engine-work.ts';
import { sharedFixtures } from '#test/fixtures/make-fixtures.ts';
import type { PreparedTool } from '#worker-image/engine/handler.ts';
import { compareStructure } from '#worker-image/engine/pdf/compare-structure.ts';
import { pdfHandler } from '#worker-image/engine/pdf/pdf-handler.ts';
import { startScriptServer } from '#worker-image/engine/pdf/start-script-server.ts';
import { makeRunCommand, type Command, type RunCommand } from '#worker-image/tools/run-command.ts';

const { signal } = new AbortController();
const servers: PreparedTool[] = [];

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.end()));
});

async function startServer(run: RunCommand = makeRunCommand()): Promise<{ server: PreparedTool; folder: string }> {
  const folder = await freshDirectory();
  const server = startScriptServer({ run, folder });
  servers.push(server);
  return { server, folder };
}

function request(script: string, args: readonly string[], directory: string): string {
  return JSON.stringify({ script, args, directory });
}

async function photos() {
  const fixture = (await sharedFixtures('pdf')).find(({ name }) => name === 'photos');
  if (fixture === undefined) throw new Error('no fixture photos');
  return workOn({ ...fixture, operation: 'compress', options: { pdf: { quality: 'tiny' } } });
}

/** Runs commands and keeps the arguments of those that were started. */
function recordingRun(): { run: RunCommand; started: string[] } {
  const started: string[] = [];
  const runTool = makeRunCommand();
  const run = (command: Command) => {
    started.push(command.args.join(' '));
    return runTool(command);
  };
  return { run, started };
}

/** Returns the file without its identifiers, which are random. */
async function contentOf(path: string): Promise<string> {
  return (await readFile(path, 'latin1')).replace(/\/ID ?\[.*?>\s*\]/s, '');
}

describe('startScriptServer', () => {
  it('has scripts write the same file as processes of their own', async () => {
    const { server, folder } = await startServer();
    const { run, started } = recordingRun();
    const [served, alone] = [await photos(), await photos()];
    const one = await runHandler(pdfHandler, served, engineDeps({ run, prepared: server }));
    expect(started.filter((line) => line.includes('.py'))).toEqual([]);
    const other = await runHandler(pdfHandler, alone, engineDeps());
    expect(await contentOf(one.path)).toBe(await contentOf(other.path));
    expect(await readdir(folder)).toEqual([]);
  });

  it('serves several scripts one after another', async () => {
    const { server } = await startServer();
    const work = await photos();
    const made = await runHandler(pdfHandler, work, engineDeps({ prepared: server }));
    expect(await compareStructure(engineDeps({ prepared: server }), work, made.path)).toEqual([]);
    expect(await compareStructure(engineDeps({ prepared: server }), work, work.input.path)).toEqual([]);
  });

  it('reports exit code and messages of a script that fails, and serves the next one', async () => {
    const { server } = await startServer();
    const { input, directory } = await photos();
    const missing = join(directory, 'missing.pdf');
    const failed = await server.send(request('compare-structure', [missing, missing], directory), signal);
    expect(failed).toMatchObject({ exitCode: 1, stdout: '' });
    expect(failed?.stderr).toContain('FileNotFoundError');
    const args = [input.path, input.path];
    expect(await server.send(request('compare-structure', args, directory), signal)).toEqual({
      exitCode: 0,
      stdout: '',
      stderr: '',
    });
  });

  it('ends with the signal of its file, and then reads no request', async () => {
    const { server } = await startServer();
    const { input, directory } = await photos();
    const stop = new AbortController();
    const sent = server.send(request('compare-structure', [input.path, input.path], directory), stop.signal);
    stop.abort(new Error('not wanted any more'));
    await expect(sent).rejects.toThrow('not wanted any more');
    expect(await server.send(request('compare-structure', [], directory), signal)).toBeNull();
  });

  it('is replaced by processes of their own when it cannot start', async () => {
    const run = makeRunCommand();
    const { server } = await startServer((command) => run({ ...command, args: ['-c', 'raise SystemExit(1)'] }));
    const work = await photos();
    const made = await runHandler(pdfHandler, work, engineDeps({ prepared: server }));
    expect(await compareStructure(engineDeps(), work, made.path)).toEqual([]);
  });
});
