import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const SCRIPT = join(ROOT, 'worker-image/run-job.ts');
const MODULE = `import { bundledScript } from '${join(import.meta.dirname, 'bundled-script.ts')}';
  console.log(bundledScript('${SCRIPT}'));`;

function bundledScript(cache: string | null): string {
  const env = cache === null ? {} : { NODE_COMPILE_CACHE: cache };
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '--eval', MODULE], { env, encoding: 'utf8' });
  return stdout.trim();
}

it('bundledScript returns the bundle beside the compile cache, otherwise the script', ({ onTestFinished }) => {
  const cache = mkdtempSync(join(tmpdir(), 'cache-'));
  onTestFinished(() => rmSync(cache, { recursive: true }));
  const bundled = join(cache, 'bundle/worker-image/run-job.mjs');
  expect(bundledScript(null)).toBe(SCRIPT);
  expect(bundledScript(cache)).toBe(SCRIPT);
  mkdirSync(dirname(bundled), { recursive: true });
  writeFileSync(bundled, '');
  expect(bundledScript(cache)).toBe(bundled);
});
