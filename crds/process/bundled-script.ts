import { existsSync } from 'node:fs';
import { getCompileCacheDir } from 'node:module';
import { dirname, join, relative } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');
/** Folder of the bundle that `hack/bundle.ts` writes, in that of `NODE_COMPILE_CACHE`. */
export const BUNDLE = 'bundle';

/**
 * Returns the path of a script's bundle; that of the script itself when the compile cache has no bundle of it. `cache` is
 * the folder of the compile cache, by default that of this process.
 */
export function bundledScript(script: string, cache: string | undefined = ownCache()): string {
  if (cache === undefined) return script;
  const bundled = join(cache, BUNDLE, relative(ROOT, script)).replace(/\.ts$/, '.mjs');
  return existsSync(bundled) ? bundled : script;
}

/** Returns the folder of NODE_COMPILE_CACHE: Node's own has the version and the user in its name. */
function ownCache(): string | undefined {
  const used = getCompileCacheDir();
  return used === undefined ? undefined : dirname(used);
}
