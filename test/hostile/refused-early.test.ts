import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MediaError } from '#crds/contract/media-error.ts';
import { parseJsonOptions, resolveOptions } from '#crds/catalogue/options/options.ts';
import { fileLimits } from '#crds/catalogue/plans.ts';
import { makeLog } from '#crds/process/log.ts';
import type { Bait } from '#test/hostile/attacked-engine.ts';
import { HOSTILE_FONTS } from '#test/hostile/font-files.ts';
import type { HostileFile } from '#test/hostile/hostile-file.ts';
import { IMAGES_OVER_LIMITS } from '#test/hostile/image-files.ts';
import { HOSTILE_DOCUMENTS } from '#test/hostile/office-files.ts';
import { PDF_BOMBS } from '#test/hostile/pdf-bombs.ts';
import { SandboxedEngine } from '#worker-image/sandbox/sandboxed-engine.ts';
import { loadHandler, processFile, type FileTask } from '#worker-image/engine/process-file.ts';
import { NO_ISOLATION } from '#worker-image/tools/isolation.ts';
import { makeRunCommand } from '#worker-image/tools/run-command.ts';

/** Files that are refused by headers and directories, before anything is decompressed or decoded. */
const EARLY = [
  ...IMAGES_OVER_LIMITS,
  ...PDF_BOMBS,
  ...[...HOSTILE_DOCUMENTS, ...HOSTILE_FONTS].filter(
    ({ says }) => says !== undefined && /unpacks|entries|at most/.test(says.source),
  ),
];
/** Tools that read headers only. */
const HEADER_TOOLS = ['raw-identify'];
/** Maximum peak memory of the engine process, in KiB: twice what its loaded libraries take. */
const MAX_PEAK_KIB = 400 * 1024;
const NO_BAIT: Bait = { url: () => '', path: '', fileUrl: '', unwritten: '' };

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'refused-early-'));
});
afterEach(() => rm(directory, { recursive: true, maxRetries: 5 }));

describe('the engine', () => {
  it.each(EARLY)('starts no tool for $name', async (file) => {
    const started: string[] = [];
    const run = makeRunCommand();
    const deps = {
      run: (command: Parameters<typeof run>[0]) => {
        started.push(command.file);
        return run(command);
      },
      onProgress: () => undefined,
      signal: new AbortController().signal,
      loadHandler,
      versions: {},
    };
    const outcome = await processFile(deps, await taskOf(file, directory)).catch((error: unknown) => error);
    // With another allowed outcome a library read the file.
    if (outcome instanceof MediaError) expect(started.filter((tool) => !HEADER_TOOLS.includes(tool))).toEqual([]);
    else expect(file.ends).toContain('done');
  });

  it('stays below the memory limit for all of them', async () => {
    const child = new SandboxedEngine(
      { log: makeLog('hostile', 'warn') },
      { isolation: NO_ISOLATION, folder: directory },
    );
    try {
      for (const [index, file] of EARLY.entries()) {
        const own = join(directory, String(index));
        await mkdir(own);
        const task = await taskOf(file, own);
        await child
          .process({ task, versions: {}, onProgress: () => undefined, signal: new AbortController().signal })
          .then(({ output }) => output.close())
          .catch((error: unknown) => expect(error).toBeInstanceOf(MediaError));
        const peak = Number(/VmHWM:\s+(\d+)/.exec(await readFile(`/proc/${child.pid}/status`, 'utf8'))?.[1]);
        expect(peak, file.name).toBeLessThan(MAX_PEAK_KIB);
      }
    } finally {
      await child.kill();
    }
  }, 120_000);
});

async function taskOf(file: HostileFile, own: string): Promise<FileTask> {
  const path = join(own, 'input');
  await writeFile(path, await file.bytes(NO_BAIT));
  return {
    operation: file.operation ?? 'compress',
    options: resolveOptions(parseJsonOptions(file.options ?? {})),
    limits: fileLimits('payg'),
    features: { video: true, heicOutput: true },
    lane: 'job',
    path,
    filename: file.filename,
    directory: own,
  };
}
