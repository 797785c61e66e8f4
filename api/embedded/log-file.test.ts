import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { openLogFile } from '#api/embedded/log-file.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'mediajobs-log-'));
afterAll(() => rmSync(folder, { recursive: true }));

describe('openLogFile', () => {
  it('keeps the file below its maximum size, with the previous lines in a second file', () => {
    const file = path.join(folder, 'api.log');
    const log = openLogFile({ file, maxBytes: 10 });
    for (const line of ['first 789', 'second', 'third']) log.write(line);
    expect(readFileSync(`${file}.1`, 'utf8')).toBe('first 789\n');
    expect(readFileSync(file, 'utf8')).toBe('second\nthird\n');
  });

  it('continues the file of an earlier run', () => {
    const file = path.join(folder, 'courier.log');
    openLogFile({ file }).write('before');
    openLogFile({ file }).write('after');
    expect(readFileSync(file, 'utf8')).toBe('before\nafter\n');
  });
});
