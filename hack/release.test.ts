/** What `hack/release` refuses before it builds anything. */
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';

const SCRIPT = 'hack/release';
const FILES = [SCRIPT, 'hack/help.sh', 'hack/cluster/image-store', 'charts/mediajobs/Chart.yaml', 'package.json'];
const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
const folders: string[] = [];
let folder = '';

afterAll(() => folders.forEach((one) => rmSync(one, { recursive: true })));

const git = (...args: string[]): string =>
  execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...args], {
    cwd: folder,
    encoding: 'utf8',
  });

/** Returns what it says with these settings, for a registry that is never reached. */
function said(env: NodeJS.ProcessEnv): string {
  const options = { cwd: folder, encoding: 'utf8', env: { PATH: process.env['PATH'], HOME: folder, ...env } } as const;
  const { status, stderr } = spawnSync('bash', [SCRIPT, '--registry', '127.0.0.1:1'], options);
  expect(status).toBe(1);
  return stderr;
}

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'mediajobs-release-'));
  folders.push(folder);
  for (const file of FILES) cpSync(file, path.join(folder, file));
  writeFileSync(path.join(folder, '.gitignore'), '.cache\n');
  git('init', '--quiet');
  git('add', '.');
  git('commit', '--quiet', '--message', 'all');
});

describe('hack/release', () => {
  it('publishes nothing without a key', () => {
    expect(said({})).toContain('COSIGN_KEY is not set');
  });

  it('publishes nothing when the tag of the commit is that of another version', () => {
    git('tag', 'v99.0.0');
    expect(said({})).toBe(`release: this commit has the tag v99.0.0, but package.json has the version ${version}\n`);
    git('tag', `v${version}`);
    expect(said({})).toContain('COSIGN_KEY is not set');
  });

  it('publishes nothing that is not committed', () => {
    writeFileSync(path.join(folder, 'new'), '');
    expect(said({})).toContain('changes that are not committed');
  });

  it('publishes nothing when the chart has another version', () => {
    writeFileSync(path.join(folder, 'charts/mediajobs/Chart.yaml'), 'version: 99.0.0\nappVersion: 99.0.0\n');
    expect(said({})).toContain(`does not have the version ${version}`);
  });
});
