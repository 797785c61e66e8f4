import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { CODE_CACHE } from '#api/embedded/code-cache.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const SOURCES = ['api', 'controller', 'crds', 'worker-image'];
/** Written once the cache has this Node's version of the code. */
const STAMP = path.join(CODE_CACHE, `warmed-${process.version}`);
/** Every process refuses this setting after all of its modules have been loaded, and before it does anything. */
export const REFUSED = { MEDIAJOBS_LOG_LEVEL: 'none' };

/**
 * Puts the code of the scripts into the cache when it is not there, or older than the sources. Else the
 * processes of a first start would each strip types themselves, and be 25 MB larger for as long as they live.
 * Where nothing may be written, they do.
 */
export async function warmCodeCache(scripts: readonly string[]): Promise<void> {
  if (modifiedAt(STAMP) > newestSource()) return;
  try {
    mkdirSync(CODE_CACHE, { recursive: true });
    await Promise.all(scripts.map(loadModules));
    writeFileSync(STAMP, '');
  } catch {
    // The cache saves memory and time; nothing needs it.
  }
}

async function loadModules(script: string): Promise<void> {
  const env = { ...REFUSED, NODE_COMPILE_CACHE: CODE_CACHE };
  await once(fork(script, [], { env, stdio: ['ignore', 'ignore', 'ignore', 'ipc'] }), 'exit');
}

function newestSource(): number {
  const files = SOURCES.flatMap((folder) =>
    readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((file) =>
      path.join(ROOT, folder, file),
    ),
  );
  const code = files.filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'));
  return Math.max(...[path.join(ROOT, 'package-lock.json'), ...code].map(modifiedAt));
}

/** Milliseconds; 0: it is not there. */
function modifiedAt(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
