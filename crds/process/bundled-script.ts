import { existsSync } from 'node:fs';
import { getCompileCacheDir } from 'node:module';
import { dirname, join, relative } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');
/** Folder of the bundle that `hack/bundle.ts` writes, in that of `NODE_COMPILE_CACHE`. */
export const BUNDLE = 'bundle';

/** Returns the path of a script's bundle; that of the script itself when the compile cache has no bundle of it. */
export function bundledScript(script: string): string {
  const cache = getCompileCacheDir();
  if (cache === undefined) return script;
  const bundled = join(dirname(cache), BUNDLE, relative(ROOT, script)).replace(/\.ts$/, '.mjs');
  return existsSync(bundled) ? bundled : script;
}
