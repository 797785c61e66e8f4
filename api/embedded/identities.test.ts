import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { DataFolder } from '#api/embedded/data-folder.ts';
import { openIdentities } from '#api/embedded/identities.ts';

const isRoot = process.getuid?.() === 0;

function freshFolder(): DataFolder {
  const folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'identities-')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const name of ['files', 'work', 'run']) mkdirSync(path.join(folder, name), { mode: 0o711 });
  return { path: folder, in: (...names) => path.join(folder, ...names) };
}

/** Runs a shell command in place of the process. Returns what it wrote. */
function outputOf(commandLine: readonly string[], command: string): string {
  const [file = '', ...args] = commandLine;
  return execFileSync(file, [...args, '/bin/sh', '-c', command], { encoding: 'utf8', cwd: '/' }).trim();
}

const nothing = { env: {}, sockets: [], ports: [] };

describe.runIf(isRoot)('the identities of a service that root started', () => {
  it('are a user for each process, without capabilities', async () => {
    const { users, commandOf } = await openIdentities(freshFolder());
    for (const name of ['api', 'engine'] as const) {
      const line = commandOf(name, nothing);
      expect(outputOf(line, 'id -u')).toBe(String(users?.of(name).uid));
      expect(outputOf(line, 'grep -E "CapEff|CapBnd" /proc/self/status')).toMatch(/^CapEff:\t0+\nCapBnd:\t0+$/);
    }
  });

  it('keep the only capability that a port below 1024 needs, when the process binds one', async () => {
    const { commandOf } = await openIdentities(freshFolder());
    const line = commandOf('api', { ...nothing, ports: [443] });
    expect(outputOf(line, 'grep CapEff /proc/self/status')).toMatch(/0{13}400$/);
  });

  it('show of the data folder what the settings and sockets of the process name, and nothing else', async () => {
    const folder = freshFolder();
    for (const name of ['engine', 'runs', 'files']) mkdirSync(folder.in('run', name), { mode: 0o755 });
    mkdirSync(folder.in('work', 'engine'));
    writeFileSync(folder.in('secrets.json'), '{}', { mode: 0o644 });
    const { commandOf } = await openIdentities(folder);
    const env = {
      MEDIAJOBS_WORK_DIR: folder.in('work', 'engine'),
      MEDIAJOBS_ENGINE_URL: `http+unix://${encodeURIComponent(folder.in('run', 'engine', 'socket'))}`,
    };
    const line = commandOf('engine', { env, sockets: [folder.in('run', 'files', 'socket')], ports: [] });
    expect(outputOf(line, `cd ${folder.path} && find . -mindepth 1 | sort`).split('\n')).toEqual([
      './run',
      './run/engine',
      './run/files',
      './work',
      './work/engine',
    ]);
  });

  it('do not open the data folder to other users when each process has a view of its own', async () => {
    const folder = freshFolder();
    const { summary } = await openIdentities(folder);
    expect(summary).toContain('sees only its part of the data folder');
    expect(statSync(folder.path).mode & 0o777).toBe(0o700);
  });
});

describe.runIf(!isRoot)('the identities of a service that a plain user started', () => {
  it('are that user for every process, which the summary says', async () => {
    const { users, summary, commandOf } = await openIdentities(freshFolder());
    expect(users).toBe(null);
    expect(commandOf('api', nothing)).toEqual([]);
    expect(summary).toContain(`every process runs as the user ${process.getuid?.()}`);
  });
});
