import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MediaError } from '#crds/media-error.ts';
import { parseJsonOptions, resolveOptions } from '#crds/options/options.ts';
import { fileLimits } from '#crds/plans.ts';
import type { Bait } from '#test/hostile/attacked-engine.ts';
import { HOSTILE_FONTS } from '#test/hostile/font-files.ts';
import type { HostileFile } from '#test/hostile/hostile-file.ts';
import { IMAGES_OVER_LIMITS } from '#test/hostile/image-files.ts';
import { HOSTILE_DOCUMENTS } from '#test/hostile/office-files.ts';
import { PDF_BOMBS } from '#test/hostile/pdf-bombs.ts';
import { startEngineChild } from '#worker-image/engine/engine-child.ts';
import { loadHandler } from '#worker-image/engine/handlers.ts';
import { processFile, type FileTask } from '#worker-image/engine/process-file.ts';
import { makeRunCommand } from '#worker-image/tools/run-command.ts';

/** Refused by what they claim: headers and directories are read, nothing is unpacked or decoded. */
const EARLY = [
  ...IMAGES_OVER_LIMITS,
  ...PDF_BOMBS,
  ...[...HOSTILE_DOCUMENTS, ...HOSTILE_FONTS].filter(
    ({ says }) => says !== undefined && /unpacks|entries|at most/.test(says.source),
  ),
];
/** Reads the header of camera RAW files. */
const HEADER_TOOLS = ['raw-identify'];
/** An engine process that has loaded its libraries takes less than half of it. */
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
    // Endings that are also right mean that a library read on.
    if (outcome instanceof MediaError) expect(started.filter((tool) => !HEADER_TOOLS.includes(tool))).toEqual([]);
    else expect(file.ends).toContain('done');
  });

  it('takes little memory for any of them', async () => {
    const child = startEngineChild(
      { tool: [], child: () => [], ownsProcesses: false, seesOnlyHome: false, summary: 'none' },
      directory,
    );
    try {
      for (const [index, file] of EARLY.entries()) {
        const own = join(directory, String(index));
        await mkdir(own);
        const task = await taskOf(file, own);
        await child
          .process({ task, versions: {}, onProgress: () => undefined, signal: new AbortController().signal })
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
