import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { parseJsonOptions, resolveOptions } from '#crds/catalogue/options/options.ts';
import { MediaError } from '#crds/contract/media-error.ts';
import type { WorkerReport } from '#crds/contract/media-job.ts';
import { makeLog } from '#crds/process/log.ts';
import type { FileTask } from '#worker-image/engine/process-file.ts';
import { CHANNEL } from '#worker-image/sandbox/engine-protocol.ts';
import { EngineKilled } from '#worker-image/sandbox/engine-channel.ts';
import type { ChildInput } from '#worker-image/sandbox/engine-process.ts';
import { ForeignFile } from '#crds/process/checked-file.ts';
import { SandboxedEngine } from '#worker-image/sandbox/sandboxed-engine.ts';
import { NO_ISOLATION, probeIsolation, type Isolation } from '#worker-image/tools/isolation.ts';
import { sharedFixtures } from '#test/fixtures/make-fixtures.ts';
import { noisyPng, writeEngineInput } from '#test/support/engine-inputs.ts';

const log = makeLog('test', 'silent');
let isolation: Isolation;
let image: Buffer;
let directory: string;

beforeAll(async () => {
  [isolation, image] = await Promise.all([probeIsolation(), noisyPng()]);
});
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'sandboxed-engine-'));
});
afterEach(() => rm(directory, { recursive: true, maxRetries: 5 }));

describe('SandboxedEngine', () => {
  it('processes a file after the announcement of any kind', async () => {
    const child = start(isolation);
    child.expect('image');
    child.expect('font');
    expect((await reportOf(child)).result).toMatchObject({ kind: 'image' });
    await child.kill();
  });

  it('converts a document with the LibreOffice that started at the announcement of its kind, and leaves nothing', async () => {
    const child = start(isolation);
    child.expect('word');
    const [root = ''] = await rootDirectoriesIn(directory);
    await expect.poll(() => readdir(join(directory, root))).toMatchObject([expect.stringMatching(/^office-/)]);
    const { output, report } = await child.process(await document());
    expect(report.result).toMatchObject({ kind: 'word', output_format: 'pdf' });
    expect((await output.readFile()).subarray(0, 5).toString()).toBe('%PDF-');
    await output.close();
    expect(await readdir(join(directory, root))).toEqual([]);
    expect((await reportOf(child)).result).toMatchObject({ kind: 'image' });
    await child.kill();
  });

  it.each([undefined, 'landlock'] as const)(
    'keeps LibreOffice for further documents, with the isolation %s',
    async (level) => {
      const child = start(level === undefined ? isolation : await probeIsolation({ levels: [level] }));
      child.expect('word');
      const offices: number[] = [];
      for (const kind of ['word', 'word', 'image', 'word']) {
        const report = await reportOf(child, ...(kind === 'word' ? [await document()] : []));
        expect(report.result).toMatchObject({ kind });
        offices.push(innermost(child.pid));
      }
      expect(readFileSync(`/proc/${offices[0]}/comm`, 'utf8')).toBe('soffice.bin\n');
      expect(new Set(offices).size).toBe(1);
      const [root = ''] = await rootDirectoriesIn(directory);
      expect(await readdir(join(directory, root))).toEqual([]);
      await child.kill();
    },
  );

  it('ends the LibreOffice of an announced document when another kind of file comes', async () => {
    const child = start(isolation);
    child.expect('sheet');
    expect((await reportOf(child)).result).toMatchObject({ kind: 'image' });
    const [root = ''] = await rootDirectoriesIn(directory);
    expect(await readdir(join(directory, root))).toEqual([]);
    expect((await reportOf(child)).result).toMatchObject({ kind: 'image' });
    await child.kill();
  });

  it('keeps the process of the PDF scripts, started at the announcement of the kind, for further PDFs', async () => {
    const child = start(isolation);
    child.expect('pdf');
    expect((await reportOf(child, await photosPdf())).result).toMatchObject({ kind: 'pdf', kept_original: false });
    const server = innermost(child.pid);
    expect(readFileSync(`/proc/${server}/cmdline`, 'utf8')).toContain('script_server.py');
    const [root = ''] = await rootDirectoriesIn(directory);
    expect(await readdir(join(directory, root))).toEqual([]);
    expect((await reportOf(child)).result).toMatchObject({ kind: 'image' });
    expect((await reportOf(child, await photosPdf())).result).toMatchObject({ kind: 'pdf', kept_original: false });
    expect(innermost(child.pid)).toBe(server);
    await child.kill();
    // The kernel ends it with its namespace, which takes a moment.
    await expect.poll(() => isAlive(server)).toBe(false);
  });

  it.each(['isolated as far as the machine allows', 'without any namespace'])('processes a file %s', async (how) => {
    const child = start(how.startsWith('iso') ? isolation : NO_ISOLATION);
    expect((await reportOf(child)).result).toMatchObject({ kind: 'image', input_format: 'png' });
    expect(child.rssBytes()).toBeGreaterThan(0);
    await child.kill();
  });

  it('throws a refusal with its code and param', async () => {
    const child = start(isolation);
    const task = { operation: 'convert', options: resolveOptions(new Map()) } as const;
    await expect(child.process(await input(task))).rejects.toMatchObject({
      name: 'MediaError',
      code: 'invalid_options',
      param: 'convert.to',
    });
    await child.kill();
  });

  // Promise, Settled where the interface leaves it open: A crash is the fault of the file; a kill by the system is not
  // Promise, Bad input, case by case: Busy, hanging and crashing engines
  // Promise, Direct endpoints: Timeout after 120 seconds, internal, processing_failed after a crash
  it('refuses a file that makes the process crash', async () => {
    const child = start(NO_ISOLATION);
    const crashed = child.process(await input());
    process.kill(child.pid, 'SIGSEGV');
    await expect(crashed).rejects.toMatchObject({ code: 'processing_failed' });
    await child.ended;
  });

  it('throws EngineKilled for a file that comes after a crash: the file was not opened', async () => {
    const child = start(NO_ISOLATION);
    process.kill(child.pid, 'SIGSEGV');
    await child.ended;
    await expect(child.process(await input())).rejects.toThrow(EngineKilled);
  });

  it('refuses the file when the prefix command exits with the code of a crash', async () => {
    // Once the file was sent: a process that has ended before refuses none.
    const command = `head -c 1 <&${CHANNEL} >/dev/null; exit 139`;
    const child = start({ ...NO_ISOLATION, child: () => ['bash', '-c', command] });
    await expect(child.process(await input())).rejects.toMatchObject({ code: 'processing_failed' });
    await child.ended;
  });

  // Promise, Settled where the interface leaves it open: A crash is the fault of the file; a kill by the system is not
  // Promise, Bad input, case by case: Busy, hanging and crashing engines
  it('throws EngineKilled when the system kills the process', async () => {
    const child = start(isolation);
    await reportOf(child);
    // Stopped, it cannot report before the kernel ends it with the outer process.
    process.kill(innermost(child.pid), 'SIGSTOP');
    const killed = child.process(await input());
    process.kill(child.pid, 'SIGKILL');
    await expect(killed).rejects.toThrow(EngineKilled);
    await child.ended;
  });

  // Promise, Settled where the interface leaves it open: A crash is the fault of the file; a kill by the system is not
  it('throws EngineKilled when the process inside its namespace is killed', async ({ skip }) => {
    if (!isolation.ownsProcesses) skip();
    const child = start(isolation);
    const killed = child.process(await input());
    await expect.poll(() => childOf(child.pid)).toBeGreaterThan(0);
    process.kill(childOf(child.pid), 'SIGKILL');
    await expect(killed).rejects.toThrow(EngineKilled);
    await child.ended;
  });

  it.each(['false', 'no-such-program'])(
    'throws EngineKilled when the process does not start, behind %s',
    async (prefix) => {
      const child = start({ ...NO_ISOLATION, child: () => [prefix] });
      await expect(child.process(await input())).rejects.toThrow(EngineKilled);
      await child.ended;
      await expect(child.process(await input())).rejects.toThrow(EngineKilled);
    },
  );

  it('throws the reason of an abort once the process has ended', async () => {
    const child = start(isolation);
    const stop = new AbortController();
    const request = { ...(await input()), signal: stop.signal };
    const stopped = child.process(request);
    const reason = new MediaError('timeout', 'too long');
    await expect.poll(() => child.files()).toBe(1);
    stop.abort(reason);
    await expect(stopped).rejects.toBe(reason);
    await child.ended;
    expect(isAlive(child.pid)).toBe(false);
  });
});

describe('the root directory of an engine process', () => {
  it.each([
    ['ends a process whose work left something there', true],
    ['lets it go on when nothing is left', false],
  ])('%s', async (_what, leaves) => {
    const child = start(isolation);
    const [root = ''] = await rootDirectoriesIn(directory);
    if (leaves) await writeFile(join(directory, root, 'left'), 'of a file');
    await reportOf(child);
    const ended = child.ended.then(() => 'ended');
    expect(
      await Promise.race([
        ended,
        reportOf(child).then(
          () => 'alive',
          () => 'ended',
        ),
      ]),
    ).toBe(leaves ? 'ended' : 'alive');
    await child.kill();
  });

  it.each(['tmp', 'dev/shm'])('ends a process whose tools left a file in its private %s', async (folder) => {
    if (!isolation.ownsMemory) return;
    const child = start(isolation);
    await reportOf(child);
    await writeFile(join(`/proc/${innermost(child.pid)}/root`, folder, 'left'), 'of a file');
    await reportOf(child);
    await child.ended;
  });

  it('accepts no symbolic link as an input', async () => {
    const child = start(isolation);
    const other = await input();
    const own = await input();
    await rm(own.task.path);
    await symlink(other.task.path, own.task.path);
    await expect(child.process(own)).rejects.toThrow(ForeignFile);
    await child.kill();
  });

  it('is removed with its files', async () => {
    const child = start(isolation);
    const request = await input();
    await using output = (await child.process(request)).output;
    expect(existsSync(request.task.directory)).toBe(false);
    expect((await output.readFile()).length).toBeGreaterThan(0);
    await child.kill();
    expect(await readdir(directory)).toEqual([]);
  });
});

async function rootDirectoriesIn(folder: string): Promise<string[]> {
  return (await readdir(folder)).filter((name) => name.startsWith('work-'));
}

function start(level: Isolation): SandboxedEngine {
  return new SandboxedEngine({ log }, { isolation: level, folder: directory });
}

/** Processes a file, by default an image, and closes the output. */
async function reportOf(child: SandboxedEngine, file?: ChildInput): Promise<WorkerReport> {
  const { output, report } = await child.process(file ?? (await input()));
  await output.close();
  return report;
}

function input(task: Partial<FileTask> = {}): Promise<ChildInput> {
  return writeEngineInput(directory, image, task);
}

/** Returns a document to be converted to PDF, as a job. */
function document(): Promise<ChildInput> {
  const options = resolveOptions(parseJsonOptions({ convert: { to: 'pdf' } }));
  const bytes = Buffer.from('{\\rtf1 Words of a document}');
  return writeEngineInput(directory, bytes, { operation: 'convert', options, lane: 'job', filename: 'words.rtf' });
}

/** Returns a PDF with photos to be compressed. */
async function photosPdf(): Promise<ChildInput> {
  const fixture = (await sharedFixtures('pdf')).find(({ name }) => name === 'photos');
  if (fixture === undefined) throw new Error('no fixture photos');
  return writeEngineInput(directory, await readFile(fixture.path), { filename: 'photos.pdf' });
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

function innermost(pid: number): number {
  const inner = childOf(pid);
  return inner === 0 ? pid : innermost(inner);
}

/** Returns the id of the process's child; 0: none. */
function childOf(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim());
}
