/**
 * Generates the published samples in `api/data/samples/` and their manifest `api/data/samples.json`:
 * `node hack/make-samples.ts` generates all, `node hack/make-samples.ts NAME…` only the named ones.
 * The code itself generates all content, so no third party holds rights in it.
 */
import { createHash } from 'node:crypto';
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FORMATS } from '#crds/catalogue/formats.ts';
import { DOCUMENT_SAMPLES, FONT_SAMPLES, TABLE_SAMPLES } from './samples/document-samples.ts';
import { FAILURE_SAMPLES } from './samples/failure-samples.ts';
import { IMAGE_SAMPLES } from './samples/image-samples.ts';
import { MEDIA_SAMPLES } from './samples/media-samples.ts';
import type { Recipe } from './samples/recipe.ts';

const RECIPES: readonly Recipe[] = [
  ...IMAGE_SAMPLES,
  ...DOCUMENT_SAMPLES,
  ...MEDIA_SAMPLES,
  ...TABLE_SAMPLES,
  ...FONT_SAMPLES,
  ...FAILURE_SAMPLES,
];

await makeSamples(join(import.meta.dirname, '../api/data'), process.argv.slice(2));

async function makeSamples(target: string, wanted: readonly string[]): Promise<void> {
  const files = join(target, 'samples');
  const directory = await mkdtemp(join(tmpdir(), 'samples-'));
  await mkdir(files, { recursive: true });
  for (const name of await readdir(files)) await copyFile(join(files, name), join(directory, name));
  for (const { name, make } of RECIPES) if (wanted.length === 0 || wanted.includes(name)) await make(directory);
  await rm(files, { recursive: true });
  await mkdir(files);
  const manifest = [];
  for (const recipe of RECIPES) {
    await copyFile(join(directory, recipe.name), join(files, recipe.name));
    manifest.push(await describe(recipe, files));
  }
  await writeFile(join(target, 'samples.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  await rm(directory, { recursive: true });
}

async function describe({ name, format, error }: Recipe, files: string): Promise<object> {
  const bytes = await readFile(join(files, name));
  process.stdout.write(`${name} ${bytes.length}\n`);
  return {
    name,
    kind: format === null ? null : FORMATS[format].kind,
    format,
    size: bytes.length,
    sha256: createHash('sha256').update(bytes).digest('hex'),
    expected_error: error,
  };
}
