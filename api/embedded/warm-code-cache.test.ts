import { fork, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PROCESSES } from '#api/embedded/process-list.ts';
import { CODE_CACHE } from '#api/embedded/code-cache.ts';
import { INVALID_SETTINGS, REPRODUCIBLE, warmCodeCache } from '#api/embedded/warm-code-cache.ts';

/** A user that no process of a service has. */
const OTHER_UID = 105_535;

describe('the setting that loads a process without running it', () => {
  it.each(PROCESSES)('is refused by $name once its modules are loaded', async ({ script }) => {
    const child = fork(script, [], { env: INVALID_SETTINGS, stdio: ['ignore', 'ignore', 'ignore', 'ipc'] });
    expect(await once(child, 'exit')).toEqual([1, null]);
  });
});

describe('the options that fill the cache', () => {
  it('return the same bytes each time, which processes without them use', ({ onTestFinished }) => {
    const script = PROCESSES.find(({ name }) => name === 'runs')?.script ?? '';
    const run = (folder: string, options: readonly string[]): string => {
      const env = { ...INVALID_SETTINGS, NODE_COMPILE_CACHE: folder, NODE_DEBUG_NATIVE: 'COMPILE_CACHE' };
      return spawnSync(process.execPath, [...options, script], { env, encoding: 'utf8' }).stderr;
    };
    const [first, second] = ['a', 'b'].map(() => {
      const folder = mkdtempSync(join(tmpdir(), 'mediajobs-cache-'));
      onTestFinished(() => rmSync(folder, { recursive: true }));
      run(folder, REPRODUCIBLE);
      const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
      const contents = files.map(({ parentPath, name }) => [name, readFileSync(join(parentPath, name))] as const);
      return { folder, files: new Map(contents) };
    });
    expect(first?.files.size).toBeGreaterThan(100);
    expect(first?.files).toEqual(second?.files);
    const used = run(first?.folder ?? '', []);
    expect(used).toMatch(/was accepted/);
    expect(used).not.toMatch(/was rejected|no such file/);
  });
});

describe('warmCodeCache', () => {
  it('fills a cache that a process of another user reads', async ({ skip, onTestFinished }) => {
    if (process.getuid?.() !== 0) skip();
    const scripts = PROCESSES.map(({ script }) => script);
    await warmCodeCache(scripts, [OTHER_UID]);
    const command = ['--reuid', `${OTHER_UID}`, '--clear-groups', process.execPath, scripts[0] ?? ''];
    const env = { ...INVALID_SETTINGS, NODE_COMPILE_CACHE: CODE_CACHE, NODE_DEBUG_NATIVE: 'COMPILE_CACHE' };
    const { stderr } = spawnSync('setpriv', command, { env: { ...env, PATH: process.env.PATH }, encoding: 'utf8' });
    for (const name of readdirSync(CODE_CACHE).filter((one) => one.endsWith(`-${OTHER_UID}`)))
      onTestFinished(() => rmSync(join(CODE_CACHE, name)));
    expect(stderr).toMatch(/was accepted/);
  });

  it('bundles the scripts that run for one file, and the cache holds the bundle', async () => {
    await warmCodeCache([]);
    const script = join(CODE_CACHE, 'bundle/worker-image/sandbox/child.mjs');
    const env = { NODE_COMPILE_CACHE: CODE_CACHE, NODE_DEBUG_NATIVE: 'COMPILE_CACHE' };
    const { status, stderr } = spawnSync(process.execPath, [script, '--warm'], { env, encoding: 'utf8' });
    expect(status).toBe(0);
    expect(stderr).toMatch(/bundle\/worker-image\/sandbox\/child-image-handler.* was accepted/);
    expect(stderr).not.toMatch(/no such file/);
  });
});
