import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '..');
const SCRIPT = `
  const { shareCodeCache } = await import('#worker-image/share-code-cache.ts');
  const { bundledScript } = await import('#crds/process/bundled-script.ts');
  const { visibleFiles } = await import('#worker-image/tools/visible-files.ts');
  const { getCompileCacheDir } = await import('node:module');
  shareCodeCache(process.env.NODE_COMPILE_CACHE);
  console.log(JSON.stringify({
    cache: getCompileCacheDir() ?? null, bundled: bundledScript(${JSON.stringify(join(ROOT, 'a.ts'))}), visible: visibleFiles(),
  }));`;
/** As OpenShift chooses them: no account of the image has it. */
const FOREIGN_USER = 1_000_660_000;
let folder: string;

/** Fills the cache, which all users may read, as in the image. Returns Node's folder in it. */
function fill(cache: string): string {
  const made = runAs(0, cache).cache ?? '';
  execFileSync('chmod', ['-R', 'u=rwX,go=rX', cache]);
  return made;
}

/** Runs the script as a user of group 0 with the cache. */
function runAs(uid: number, cache: string): { cache: string | null; bundled: string; visible: string[] } {
  const args = ['--reuid', String(uid), '--regid', '0', '--clear-groups', process.execPath];
  const env = { PATH: process.env['PATH'], NODE_COMPILE_CACHE: cache, TMPDIR: join(folder, 'tmp') };
  const run = [...args, '--input-type=module', '--eval', SCRIPT];
  return JSON.parse(execFileSync('setpriv', run, { cwd: ROOT, env, encoding: 'utf8' })) as ReturnType<typeof runAs>;
}

beforeEach(() => {
  // Not in the folder of the tests, which other users may not enter.
  folder = mkdtempSync('/tmp/share-code-cache-');
  chmodSync(folder, 0o755);
  mkdirSync(join(folder, 'tmp'));
  chmodSync(join(folder, 'tmp'), 0o777);
  mkdirSync(join(folder, 'cache', 'bundle'), { recursive: true });
  writeFileSync(join(folder, 'cache', 'bundle', 'a.mjs'), '');
});
afterEach(() => rmSync(folder, { recursive: true }));

describe.runIf(process.getuid?.() === 0)('the code cache of an image', () => {
  it('is used by a user for whom it was not made, with its bundle, and engine processes see it', () => {
    const cache = join(folder, 'cache');
    expect(fill(cache)).toMatch(/-0$/);
    const used = runAs(FOREIGN_USER, cache);
    const own = join(folder, 'tmp', 'code-cache-');
    expect(used.cache).toMatch(new RegExp(`^${own}.*-${FOREIGN_USER}$`));
    expect(used.bundled).toMatch(new RegExp(`^${own}.*/bundle/a[.]mjs$`));
    expect(used.visible).toContain(cache);
  });

  it('is not linked when it is of another version of Node', () => {
    const cache = join(folder, 'cache');
    mkdirSync(join(cache, 'v1.0.0-x64-00000000-0'));
    expect(runAs(FOREIGN_USER, cache)).toMatchObject({ cache: null, bundled: join(ROOT, 'a.ts') });
  });

  it('is not linked when Node uses it already', () => {
    const cache = join(folder, 'cache');
    const made = fill(cache);
    symlinkSync(made, made.replace(/-0$/, `-${FOREIGN_USER}`));
    expect(runAs(FOREIGN_USER, cache).cache).toBe(made.replace(/-0$/, `-${FOREIGN_USER}`));
  });
});
