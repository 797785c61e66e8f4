import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it } from 'vitest';

const SCRIPT = 'hack/cluster/build-binaries';

it('hack/cluster/build-binaries waits for no other build when all programs are there', async () => {
  const caches = mkdtempSync(path.join(tmpdir(), 'mediajobs-programs-'));
  const cache = path.join(caches, 'mediajobs');
  const [, version = ''] = /^CRANE=(.+)$/m.exec(readFileSync(SCRIPT, 'utf8')) ?? [];
  for (const name of ['build', 'programs']) mkdirSync(path.join(cache, name), { recursive: true });
  writeFileSync(path.join(cache, 'programs', `crane-${version}`), '', { mode: 0o755 });
  const hold = 'exec 9>"$1"; flock 9; echo building; read end';
  const build = spawn('sh', ['-c', hold, 'sh', path.join(cache, 'build', 'programs.lock')]);
  await new Promise((resolve) => build.stdout.once('data', resolve));
  const env = { PATH: '/usr/bin:/bin', XDG_CACHE_HOME: caches };
  const { stdout } = spawnSync(SCRIPT, ['crane'], { encoding: 'utf8', env, timeout: 50_000 });
  build.stdin.end();
  rmSync(caches, { recursive: true });
  expect(stdout).toBe(`${path.join(cache, 'bin')}\n`);
});

it('hack/cluster/build-binaries builds a program once that is named twice', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'mediajobs-programs-'));
  // In place of the compiler, which takes minutes: makes a file for each package.
  const compiler =
    '#!/bin/sh\n[ "$1" = build ] || exit 0\nfor name; do :; done\ntouch "programs/$(basename "$name")" && chmod +x programs/*\n';
  writeFileSync(path.join(folder, 'go'), compiler, { mode: 0o755 });
  const env = { PATH: `${folder}:/usr/bin:/bin`, XDG_CACHE_HOME: folder };
  const { stdout, stderr } = spawnSync(SCRIPT, ['kubectl', 'kubectl'], { encoding: 'utf8', env, timeout: 50_000 });
  rmSync(folder, { recursive: true });
  expect(stdout, stderr).toBe(`${path.join(folder, 'mediajobs', 'bin')}\n`);
});
