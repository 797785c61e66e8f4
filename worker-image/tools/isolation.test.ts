import { spawnSync } from 'node:child_process';
import { closeSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { IsolationMissing, probeIsolation, triedIsolation, type Isolation } from '#worker-image/tools/isolation.ts';
import { withInherited } from '#worker-image/tools/run-command.ts';

let isolation: Isolation;
let folder: string;
let ownFolder: string;

beforeAll(async () => {
  isolation = await probeIsolation();
  folder = await mkdtemp(join(tmpdir(), 'isolation-'));
  ownFolder = join(folder, 'own');
  await mkdir(ownFolder);
  await writeFile(join(folder, 'other'), 'of another caller');
  await writeFile(join(ownFolder, 'own'), 'of this caller');
});
afterAll(() => rm(folder, { recursive: true }));

/** Returns the output of a shell command in the isolation of an engine process. */
function inIsolation(command: string): string {
  const filter = isolation.openFilter();
  const stdio = withInherited(['ignore', 'pipe', 'inherit'], filter);
  const { stdout } = spawnSync('env', [...isolation.child(ownFolder), 'sh', '-c', command], {
    encoding: 'utf8',
    stdio,
  });
  if (filter !== null) closeSync(filter);
  return stdout.trim();
}

describe('the isolation of an engine process', () => {
  it.each([
    ['the file of another caller', () => join(folder, 'other')],
    ['the users of the machine', () => '/etc/passwd'],
    ['logs and databases', () => '/var/log'],
    ['what other processes run', () => `/proc/${process.pid}/cmdline`],
    ['the API of the project', () => join(import.meta.dirname, '../../api')],
  ])('hides %s', (_what, path) => {
    if (isolation.level !== 'bubblewrap') return;
    expect(inIsolation(`ls -d '${path()}' 2>&1 || echo hidden`)).toMatch(/^ls: cannot access .*\nhidden$/);
  });

  it('lets a process write into its own folder only', async () => {
    const targets = `/ /usr /etc '${import.meta.dirname}'`;
    const script = `cat own; echo made >new; for at in ${targets}; do touch "$at/x" 2>/dev/null && echo "wrote $at"; done`;
    expect(inIsolation(script)).toBe('of this caller');
    expect(await readFile(join(ownFolder, 'new'), 'utf8')).toBe('made\n');
  });

  it('runs a process without privileges and with a filter of system calls', ({ skip }) => {
    if (isolation.level !== 'bubblewrap') skip();
    const status = inIsolation('cat /proc/self/status');
    expect(status).toMatch(/^CapEff:\s+0+$/m);
    expect(status).toMatch(/^NoNewPrivs:\s+1$/m);
    expect(status).toMatch(/^Seccomp:\s+2$/m);
  });
});

/** Returns the output of a module on this machine without a tool. */
function without(tool: 'bwrap' | '/usr/bin/python3', module: string): string {
  const namespace = process.getuid?.() === 0 ? ['--mount'] : ['--map-root-user', '--mount'];
  const command = `mount --bind /dev/null "$(command -v ${tool})" && exec "$0" --input-type=module --eval "$1"`;
  const { stdout } = spawnSync('unshare', [...namespace, 'sh', '-c', command, process.execPath, module]);
  return String(stdout).trim();
}

describe('triedIsolation', () => {
  it('returns the isolation that a trial in this process would return', () => {
    const { child, openFilter: _open, ...tried } = triedIsolation(isolation.level) ?? { ...isolation, level: 'none' };
    expect(isolation).toMatchObject(tried);
    expect(child(ownFolder)).toEqual(isolation.child(ownFolder));
  });

  it.each([undefined, '', 'none', 'pod', 'partial', 'NAMESPACES', 'toString'])('returns null for %s', (name) =>
    expect(triedIsolation(name)).toBeNull(),
  );

  it('starts no process where the level does not work', ({ skip }) => {
    if (isolation.level !== 'bubblewrap') skip();
    const start = `import { spawnSync } from 'node:child_process';
      import { triedIsolation } from '${join(import.meta.dirname, 'isolation.ts')}';
      const { child, openFilter } = triedIsolation('bubblewrap');
      const stdio = ['ignore', 'pipe', 'ignore', ...Array(6).fill('ignore'), openFilter()];
      const { status, stdout } = spawnSync('env', [...child('${ownFolder}'), 'echo', 'started'], { stdio });
      console.log(status === 0, String(stdout));`;
    expect(without('bwrap', start)).toBe('false');
  });
});

describe('probeIsolation', () => {
  it('falls back to Landlock where bubblewrap is missing', ({ skip }) => {
    if (isolation.level !== 'bubblewrap') skip();
    const probe = `import { probeIsolation } from '${join(import.meta.dirname, 'isolation.ts')}';
      const { level, seesOnlyOwnFolder, child } = await probeIsolation();
      console.log(level, seesOnlyOwnFolder, child('/').includes('bwrap'));`;
    expect(without('bwrap', probe)).toBe('namespaces true false');
  });

  it('closes the filters of every attempt when not even the partial isolation starts', ({ skip }) => {
    if (isolation.level !== 'bubblewrap') skip();
    const probe = `import { readdirSync, readlinkSync } from 'node:fs';
      import { probeIsolation } from '${join(import.meta.dirname, 'isolation.ts')}';
      const { summary } = await probeIsolation({ setting: 'none' });
      const targetOf = (name) => { try { return readlinkSync('/proc/self/fd/' + name); } catch { return ''; } };
      const filters = readdirSync('/proc/self/fd').map(targetOf).filter((target) => target.includes('/filter-'));
      console.log(summary.includes('it does not start'), filters.length);`;
    expect(without('/usr/bin/python3', probe)).toBe('true 0');
  });

  it('throws IsolationMissing with its remedies when no level passes', async () => {
    const refused = probeIsolation({ levels: [] });
    await expect(refused).rejects.toThrow(IsolationMissing);
    await expect(refused).rejects.toThrow('apt-get install bubblewrap');
    await expect(refused).rejects.toThrow('MEDIAJOBS_ISOLATION=none');
  });

  it.each(['pod', 'none'] as const)(
    'accepts the setting %s when no level passes, and names it in the summary',
    async (setting) => {
      const accepted = await probeIsolation({ setting, levels: [] });
      expect(accepted).toMatchObject({ level: setting, seesOnlyOwnFolder: false });
      expect(accepted.summary).toContain(`MEDIAJOBS_ISOLATION=${setting}`);
    },
  );
});
