import { getEventListeners } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { openLogFile } from '#api/embedded/log-file.ts';
import { startNodeProcess } from '#api/embedded/node-process.ts';
import { StartError } from '#api/embedded/start-error.ts';

it('a process whose program is missing is a StartError and leaves no listener', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'node-process-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const { signal } = new AbortController();
  const log = openLogFile({ file: path.join(folder, 'api.log') });
  const identity = ['/nonexistent/unshare'];
  const started = startNodeProcess({
    name: 'api',
    script: import.meta.filename,
    env: {},
    identity,
    log,
    report: () => {},
    signal,
  });
  await expect(started).rejects.toThrow(StartError);
  await expect(started).rejects.toThrow('The process api did not start: Error: spawn /nonexistent/unshare ENOENT');
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});
