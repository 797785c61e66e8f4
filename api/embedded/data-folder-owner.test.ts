import { chmodSync, lchownSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { claimFolder, requireOwnEntries } from '#api/embedded/data-folder-owner.ts';

let folder = '';
let reports: string[] = [];
const deps = { report: (sentence: string) => void reports.push(sentence) };
const modeOf = (entry: string): string => (statSync(entry).mode & 0o7777).toString(8);

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'mediajobs-owner-'));
  reports = [];
  for (const name of ['tls', 'files', 'work', 'run', 'log']) mkdirSync(path.join(folder, name), { mode: 0o700 });
  onTestFinished(() => rmSync(folder, { recursive: true }));
});

function secret(name: string, mode: number): string {
  const file = path.join(folder, name);
  writeFileSync(file, 'x');
  chmodSync(file, mode);
  return file;
}

describe('a data folder', () => {
  it('that other users may write to is closed to them, with a sentence for the operator', () => {
    chmodSync(folder, 0o777);
    claimFolder(deps, folder);
    expect(modeOf(folder)).toBe('755');
    expect(reports).toEqual([expect.stringContaining(folder)]);
  });

  it('of its owner alone is left unchanged', () => {
    claimFolder(deps, folder);
    requireOwnEntries(deps, folder);
    expect([modeOf(folder), reports]).toEqual(['700', []]);
  });

  it('has its subfolders closed, except for one with the group of its processes', () => {
    const [files, work] = [path.join(folder, 'files'), path.join(folder, 'work')];
    chmodSync(files, 0o2770);
    chmodSync(work, 0o777);
    requireOwnEntries(deps, folder);
    expect([modeOf(files), modeOf(work)]).toEqual(['2770', '755']);
  });
});

describe('a secret', () => {
  it.each([
    ['secrets.json', 0o600],
    ['tls/ca.key', 0o400],
    ['tls/key.pem', 0o640],
  ])('in %s with mode %o is accepted', (name, mode) => {
    secret(name, mode);
    requireOwnEntries(deps, folder);
    expect(reports).toEqual([]);
  });

  it.each([
    ['secrets.json', 0o640],
    ['tls/ca.key', 0o604],
    ['tls/key.pem', 0o644],
  ])('in %s with mode %o is refused', (name, mode) => {
    secret(name, mode);
    expect(() => requireOwnEntries(deps, folder)).toThrow(`mode ${mode.toString(8)}`);
  });

  it('that is a link is refused', () => {
    symlinkSync('/etc/hostname', path.join(folder, 'secrets.json'));
    expect(() => requireOwnEntries(deps, folder)).toThrow('is not a regular file');
  });

  it.runIf(process.getuid?.() === 0)('of another user is refused, and so is a folder of another user', () => {
    lchownSync(secret('secrets.json', 0o600), 65_534, 65_534);
    expect(() => requireOwnEntries(deps, folder)).toThrow('belongs to the user with the number 65534');
    lchownSync(folder, 65_534, 65_534);
    expect(() => claimFolder(deps, folder)).toThrow(`The data folder ${folder} belongs to`);
  });
});
