import { closeSync, fstatSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
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

  it('closes no file of others while it cannot be renamed, and is renamed once that is possible', () => {
    const file = path.join(folder, 'recorder.log');
    const log = openLogFile({ file, maxBytes: 5 });
    mkdirSync(`${file}.1`);
    log.write('first');
    log.write('dropped');
    const other = openSync('/dev/null', 'r');
    log.write('dropped');
    expect(() => fstatSync(other)).not.toThrow();
    closeSync(other);
    rmSync(`${file}.1`, { recursive: true });
    log.write('second');
    expect(readFileSync(`${file}.1`, 'utf8')).toBe('first\n');
    expect(readFileSync(file, 'utf8')).toBe('second\n');
  });

  it('is made again when it was deleted', () => {
    const file = path.join(folder, 'engine.log');
    const log = openLogFile({ file, maxBytes: 5 });
    log.write('first');
    rmSync(file);
    log.write('second');
    expect(readFileSync(file, 'utf8')).toBe('second\n');
  });
});
