/**
 * The code cache of an image for a user for whom it was not made, such as one that OpenShift chooses. Node reads a folder
 * whose name ends with the id of its user, and cannot make one in an image that is read-only.
 */
import { mkdtempSync, readdirSync, symlinkSync } from 'node:fs';
import { enableCompileCache, getCompileCacheDir } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BUNDLE } from '#crds/process/bundled-script.ts';

/**
 * Links the cache in the folder for this user and uses it for all modules that are loaded from now on. Does nothing when Node
 * uses a cache already, or when this version of Node has made none.
 * @param cache `NODE_COMPILE_CACHE`.
 */
export function shareCodeCache(cache: string | undefined): void {
  if (cache === undefined || getCompileCacheDir() !== undefined) return;
  try {
    const made = readdirSync(cache).find((name) => name.startsWith(`${process.version}-`));
    if (made === undefined) return;
    const own = mkdtempSync(join(tmpdir(), 'code-cache-'));
    symlinkSync(join(cache, made), join(own, made.replace(/\d+$/, String(process.getuid?.()))));
    symlinkSync(join(cache, BUNDLE), join(own, BUNDLE));
    enableCompileCache(own);
  } catch {
    // The cache is optional: it only saves memory and time.
  }
}
