import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { probeIsolation, type Isolation } from '#worker-image/tools/isolation.ts';

let isolation: Isolation;
let folder: string;
let home: string;

beforeAll(async () => {
  isolation = await probeIsolation();
  folder = await mkdtemp(join(tmpdir(), 'isolation-'));
  home = join(folder, 'home');
  await mkdir(home);
  await writeFile(join(folder, 'other'), 'of another caller');
  await writeFile(join(home, 'own'), 'of this caller');
});
afterAll(() => rm(folder, { recursive: true }));

/** What a shell command says behind all walls of an engine process. */
function behindWalls(command: string): string {
  return spawnSync('env', [...isolation.child(home), 'sh', '-c', command], { encoding: 'utf8' }).stdout.trim();
}

describe('the file wall, where the machine allows it', () => {
  it.each([
    ['the file of another caller', () => join(folder, 'other')],
    ['the users of the machine', () => '/etc/passwd'],
    ['logs and databases', () => '/var/log'],
    ['what other processes run', () => `/proc/${process.pid}/cmdline`],
    ['the API of the project', () => join(import.meta.dirname, '../../api')],
  ])('hides %s', (_what, path) => {
    if (!isolation.seesOnlyHome) return;
    expect(behindWalls(`ls -d '${path()}' || echo hidden`)).toBe('hidden');
  });

  it('lets a process write into its home alone', async ({ skip }) => {
    if (!isolation.seesOnlyHome) skip();
    const script = `cat own; echo made >new; for at in / /usr /etc '${import.meta.dirname}'; do touch "$at/x" && echo "wrote $at"; done`;
    expect(behindWalls(script)).toBe('of this caller');
    expect(await readFile(join(home, 'new'), 'utf8')).toBe('made\n');
  });

  it('leaves a process no privileges', ({ skip }) => {
    if (!isolation.seesOnlyHome) skip();
    expect(behindWalls('grep CapEff /proc/self/status')).toMatch(/\s0+$/);
  });
});

describe('probeIsolation', () => {
  it('goes without the file wall where bubblewrap is missing', ({ skip }) => {
    if (!isolation.seesOnlyHome) skip();
    const namespace = process.getuid?.() === 0 ? ['--mount'] : ['--map-root-user', '--mount'];
    const probe = `import { probeIsolation } from '${join(import.meta.dirname, 'isolation.ts')}';
      const { seesOnlyHome, child } = await probeIsolation();
      console.log(seesOnlyHome, child('/').includes('bwrap'));`;
    const command = 'mount --bind /dev/null "$(command -v bwrap)" && exec "$0" --input-type=module --eval "$1"';
    const { stdout } = spawnSync('unshare', [...namespace, 'sh', '-c', command, process.execPath, probe]);
    expect(String(stdout).trim()).toBe('false false');
  });
});
