/**
 * An engine process with a home of its own, all that it sees of callers' files. It starts before its
 * files are known: each file's directory is moved into the home for as long as the work takes. A process
 * whose work left files elsewhere takes no other file.
 */
import { mkdtempSync } from 'node:fs';
import { readdir, rename, rm } from 'node:fs/promises';
import { isAbsolute, join, relative } from 'node:path';
import { startEngineChild, type ChildInput, type EngineChild } from '#worker-image/engine/engine-child.ts';
import type { ProcessedFile } from '#worker-image/engine/process-file.ts';
import type { Isolation } from '#worker-image/tools/isolation.ts';

/**
 * Starts a process whose home is made in a folder, and removed with the process.
 * Directories of tasks must be on the folder's file system, and hold the task's input.
 */
export function startChildAtHome(isolation: Isolation, folder: string): EngineChild {
  const home = mkdtempSync(join(folder, 'home-'));
  const child = startEngineChild(isolation, home);
  let working: Promise<unknown> = Promise.resolve();
  const removed = child.ended
    .then(() => working)
    .then(() => rm(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 }))
    // What is left goes with the folder.
    .catch(() => undefined);
  return {
    ...child,
    process: (input) => {
      const work = processAtHome(child, home, input);
      working = work.catch(() => undefined);
      return work;
    },
    kill: async () => {
      await child.kill();
      await removed;
    },
  };
}

async function processAtHome(child: EngineChild, home: string, input: ChildInput): Promise<ProcessedFile> {
  const { directory, path } = input.task;
  const lent = join(home, 'file');
  await rename(directory, lent);
  try {
    const task = { ...input.task, directory: lent, path: moved(path, directory, lent) };
    const file = await child.process({ ...input, task });
    return { ...file, path: moved(file.path, lent, directory) };
  } finally {
    await rename(lent, directory);
    if (child.leftFiles() || (await readdir(home)).length > 0) await child.kill();
  }
}

function moved(path: string, from: string, to: string): string {
  const inside = relative(from, path);
  if (isAbsolute(inside) || inside.startsWith('..')) throw new RangeError(`${path} is not inside of ${from}`);
  return join(to, inside);
}
