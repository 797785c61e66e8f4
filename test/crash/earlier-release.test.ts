import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { newestRelease } from '#test/crash/earlier-release.ts';

describe('newestRelease', () => {
  let repository: string;
  const git = (...args: readonly string[]): void => {
    const author = ['-c', 'user.name=test', '-c', 'user.email=test@example.com'];
    execFileSync('git', [...author, ...args], { cwd: repository, stdio: 'ignore' });
  };
  const commit = (...tags: readonly string[]): void => {
    git('commit', '--allow-empty', '--message', 'a change');
    for (const tag of tags) git('tag', tag);
  };

  beforeEach(() => {
    repository = mkdtempSync(path.join(tmpdir(), 'mediajobs-test-'));
    git('init');
  });
  afterEach(() => rmSync(repository, { recursive: true }));

  it('is the last tag of a version in the history, not the highest name', () => {
    commit('v0.9.0');
    commit('v0.10.0');
    commit();
    expect(newestRelease(repository)).toBe('v0.10.0');
  });

  it('is the release before, where the checked-out commit is one itself', () => {
    commit('v0.1.0');
    commit('v0.2.0');
    expect(newestRelease(repository)).toBe('v0.1.0');
  });

  it('is null without a tag of a version', () => {
    commit('verified');
    commit();
    expect(newestRelease(repository)).toBeNull();
  });
});
