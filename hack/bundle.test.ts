/** The bundle of the service on one machine, which only its image has. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PROCESSES } from '#api/embedded/process-list.ts';
import { INVALID_SETTINGS } from '#api/embedded/warm-code-cache.ts';

const ROOT = path.join(import.meta.dirname, '..');
// Where the packages are found that are not bundled.
const CACHE = path.join(ROOT, 'node_modules/.cache');
mkdirSync(CACHE, { recursive: true });
const folder = mkdtempSync(path.join(CACHE, 'bundle-'));
const run = (args: readonly string[]) =>
  spawnSync(process.execPath, [...args], { env: INVALID_SETTINGS, encoding: 'utf8' });

beforeAll(() => {
  const made = run([path.join(ROOT, 'hack/bundle.ts'), '--service', folder]);
  if (made.status !== 0) throw new Error(made.stderr);
}, 120_000);
afterAll(() => rmSync(folder, { recursive: true }));

describe('the bundle of the service on one machine', () => {
  const scripts = [...PROCESSES.map(({ script }) => path.relative(ROOT, script)), 'api/embedded.ts'];

  it.each(scripts)('has %s, which loads all its code and then refuses an invalid setting', (script) => {
    const { status, stderr } = run([path.join(folder, script.replace(/\.ts$/, '.mjs')), '--data', folder]);
    expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringContaining('MEDIAJOBS_LOG_LEVEL: Invalid') });
  });

  it('has no absolute path: a project may be moved with its bundle', () => {
    const { stdout } = spawnSync('grep', ['-l', '-F', ROOT, '-r', folder], { encoding: 'utf8' });
    expect(stdout).toBe('');
  });

  it('leaves what reads files beside its own to its package', () => {
    const { stdout } = spawnSync('grep', ['-l', 'fluent-ffmpeg/lib', '-r', folder], { encoding: 'utf8' });
    expect(stdout).toBe('');
  });
});
