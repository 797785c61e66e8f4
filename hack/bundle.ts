/**
 * Bundles the scripts that run for one file, with `--service` also those of the service on one machine:
 * `node hack/bundle.ts [--service] FOLDER`. A process of them loads a few files in place of some hundred, which takes
 * longer than a small file does. Scripts keep their paths, with the extension `.mjs`.
 */
import { chmodSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { rolldown } from 'rolldown';

const ROOT = join(import.meta.dirname, '..');
const FILE_SCRIPTS = [
  'worker-image/run-job',
  'worker-image/run-standby',
  'worker-image/serve-attempts',
  'worker-image/sandbox/child',
  'worker-image/print-isolation',
];
const SERVICE_SCRIPTS = [
  'api/embedded',
  'api/main',
  'api/embedded-control',
  'api/courier',
  'controller/embedded-runs',
  'worker-image/serve-direct',
];
/** Packages that read files beside their own: code for one processor, a folder of presets. */
const EXTERNAL = ['sharp', 'fluent-ffmpeg'];

/** Writes the bundle, in place of an earlier one. */
async function bundle(scripts: readonly string[], folder: string): Promise<void> {
  mkdirSync(dirname(folder), { recursive: true });
  const made = mkdtempSync(`${folder}-`);
  try {
    for (const script of scripts) await bundleScript(script, join(made, dirname(script)));
    // A temporary folder is its owner's alone; other users run the bundle.
    chmodSync(made, 0o755);
    rmSync(folder, { recursive: true, force: true });
    renameSync(made, folder);
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
}

/** Bundles each script by itself: chunks that two scripts share would be many and small. */
async function bundleScript(script: string, dir: string): Promise<void> {
  await using build = await rolldown({
    input: join(ROOT, `${script}.ts`),
    external: EXTERNAL,
    platform: 'node',
    cwd: ROOT,
    plugins: [
      { name: 'paths-of-sources', transform: { filter: { code: 'import.meta.' }, handler: sourcePathsFrom(dir) } },
    ],
  });
  await build.write({ dir, entryFileNames: '[name].mjs', chunkFileNames: `${basename(script)}-[name]-[hash].mjs` });
}

/**
 * Returns a transformation that replaces the paths a module takes of itself: it finds its files where its source is. They
 * are relative to the bundle, whose project may be moved with it.
 */
function sourcePathsFrom(dir: string): (code: string, id: string) => string | null {
  return (code, id) => {
    if (!id.startsWith(ROOT) || id.includes('/node_modules/')) return null;
    const folder = JSON.stringify(relative(dir, dirname(id)));
    const file = JSON.stringify(relative(dir, id));
    return code
      .replaceAll('import.meta.dirname', `process.getBuiltinModule("node:path").join(import.meta.dirname, ${folder})`)
      .replaceAll('import.meta.url', `new URL(${file}, import.meta.url).href`);
  };
}

const { values, positionals } = parseArgs({ allowPositionals: true, options: { service: { type: 'boolean' } } });
const [folder] = positionals;
if (folder === undefined) throw new Error('name the folder of the bundle');
await bundle(values.service === true ? [...FILE_SCRIPTS, ...SERVICE_SCRIPTS] : FILE_SCRIPTS, resolve(folder));
