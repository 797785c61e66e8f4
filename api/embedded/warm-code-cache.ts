import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { CODE_CACHE } from '#api/embedded/code-cache.ts';
import { BUNDLE, bundledScript } from '#crds/process/bundled-script.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const SOURCES = ['api', 'controller', 'crds', 'worker-image'];
/** File whose time says when the cache was filled with this version of Node. */
const STAMP = path.join(CODE_CACHE, `warmed-6-${process.version}`);
const SUPERVISOR = path.join(ROOT, 'api', 'embedded.ts');
const MEDIACTL = path.join(ROOT, 'api', 'mediactl.ts');
const BUNDLER = path.join(ROOT, 'hack', 'bundle.ts');
const BUNDLE_FOLDER = path.join(CODE_CACHE, BUNDLE);
const ENGINE_CHILD = path.join('worker-image', 'sandbox', 'child');
const SERVE_ATTEMPTS = path.join('worker-image', 'serve-attempts');
const PRINT_ISOLATION = path.join('worker-image', 'print-isolation');
const PRUNE_FFMPEG = path.join(ROOT, 'worker-image', 'prune-ffmpeg.ts');
const IMPORT_ALL = 'await Promise.all(process.argv.slice(1).map((file) => import(file))); process.exit(0)';
/**
 * Options with which the same code is compiled to the same bytes, so that images can be built again. Processes without them use
 * the cache: V8 leaves both out of the hash of its options that it keeps in each file.
 */
export const REPRODUCIBLE = ['--random-seed=1', '--predictable'];
/** Invalid setting: a process that gets it loads its modules and then exits. */
export const INVALID_SETTINGS = { MEDIAJOBS_LOG_LEVEL: 'none' };

/**
 * Fills the compile cache, bundles the scripts that run for one file and copies ffmpeg's libraries, when the cache is missing or older than the
 * sources. Otherwise each process of the first start would strip types itself and take 25 MB more until it ends, as it
 * does where the cache cannot be written.
 * @param uids users of the processes.
 */
export async function warmCodeCache(scripts: readonly string[], uids: readonly number[] = []): Promise<void> {
  try {
    // In an image all files have the same time.
    if (modifiedAt(STAMP) < newestSource()) {
      mkdirSync(CODE_CACHE, { recursive: true });
      // One after the other: each uses what the earlier ones have compiled, and the same one writes a shared module always.
      const isServiceBundled = bundledScript(SUPERVISOR, CODE_CACHE) !== SUPERVISOR;
      const hasBundle = isServiceBundled || (await isBundled());
      for (const script of [bundledScript(SUPERVISOR, CODE_CACHE), ...scripts]) await loadModules(script);
      await loadModules(MEDIACTL, ['--help']);
      await (hasBundle ? loadBundle() : loadScripts(ROOT, '.ts'));
      await runNode([PRUNE_FFMPEG, CODE_CACHE]);
      writeFileSync(STAMP, '');
    }
    makeReadable();
    for (const uid of uids) linkFor(uid);
  } catch {
    // The cache is optional: it only saves memory and time.
  }
}

/**
 * Makes the cache readable for the users of the processes. Only the supervisor's user may write: a process may be
 * compromised. Follows no links, since each user has one that leads to the whole cache.
 */
function makeReadable(folder = CODE_CACHE): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.isSymbolicLink()) continue;
    const one = path.join(folder, entry.name);
    const { mode } = statSync(one);
    if ((mode & 0o044) !== 0o044) chmodSync(one, entry.isDirectory() ? 0o755 : 0o644);
    if (entry.isDirectory()) makeReadable(one);
  }
}

/** Node reads a folder per user, such as `v24.1.0-x64-964aae3f-0`: links lead other users to that of the supervisor. */
function linkFor(uid: number): void {
  const own = `-${process.getuid?.()}`;
  for (const entry of readdirSync(CODE_CACHE, { withFileTypes: true })) {
    if (!entry.isDirectory() || !entry.name.endsWith(own)) continue;
    const link = path.join(CODE_CACHE, `${entry.name.slice(0, -own.length)}-${uid}`);
    if (lstatSync(link, { throwIfNoEntry: false }) === undefined) symlinkSync(entry.name, link);
  }
}

/** Returns whether the bundle could be made. An earlier one is of other sources. */
async function isBundled(): Promise<boolean> {
  rmSync(BUNDLE_FOLDER, { recursive: true, force: true });
  const bundler = spawn(process.execPath, [BUNDLER, BUNDLE_FOLDER], { stdio: 'ignore' });
  const [code] = (await once(bundler, 'exit')) as [number | null];
  return code === 0;
}

/** Loads the scripts of the bundle, and the parts that they load later. */
async function loadBundle(): Promise<void> {
  const files = readdirSync(BUNDLE_FOLDER, { recursive: true, encoding: 'utf8' });
  // A file of the bundle with a source is a script, which does more than load when it is imported.
  const parts = files.filter(
    (file) =>
      file.startsWith('worker-image') &&
      file.endsWith('.mjs') &&
      !existsSync(path.join(ROOT, file.replace(/\.mjs$/, '.ts'))),
  );
  await runNode(['--input-type=module', '--eval', IMPORT_ALL, ...parts.map((part) => path.join(BUNDLE_FOLDER, part))]);
  await loadScripts(BUNDLE_FOLDER, '.mjs');
}

async function loadScripts(folder: string, extension: string): Promise<void> {
  const scriptOf = (script: string): string => path.join(folder, `${script}${extension}`);
  for (const script of [ENGINE_CHILD, SERVE_ATTEMPTS]) await loadModules(scriptOf(script), ['--warm']);
  await loadModules(scriptOf(PRINT_ISOLATION));
}

async function loadModules(script: string, args: readonly string[] = []): Promise<void> {
  await runNode([script, ...args]);
}

async function runNode(args: readonly string[]): Promise<void> {
  const env = { ...INVALID_SETTINGS, NODE_COMPILE_CACHE: CODE_CACHE };
  await once(spawn(process.execPath, [...REPRODUCIBLE, ...args], { env, stdio: 'ignore' }), 'exit');
}

function newestSource(): number {
  const files = SOURCES.flatMap((folder) =>
    readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((file) =>
      path.join(ROOT, folder, file),
    ),
  );
  const code = files.filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'));
  return Math.max(...[path.join(ROOT, 'package-lock.json'), BUNDLER, ...code].map(modifiedAt));
}

/** Returns milliseconds since 1970; 0 when the file is missing. */
function modifiedAt(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
