import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { clockOf, systemClock } from '#crds/process/clock.ts';

const HOUR_MS = 3_600_000;

describe('clockOf', () => {
  let folder: string;
  let file: string;
  let warnings: unknown[];

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'mediajobs-clock-'));
    file = join(folder, 'clock');
    warnings = [];
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));
  const deps = { log: { warn: (fields: unknown) => void warnings.push(fields) } };

  it('returns the clock of the system without a file', () => {
    expect(clockOf(deps, undefined)).toBe(systemClock);
    expect(warnings).toEqual([]);
  });

  it('returns a clock that runs ahead by the seconds in the file, and warns', async () => {
    await writeFile(file, '7200\n');
    const ahead = clockOf(deps, file).now().getTime() - Date.now();
    expect(Math.round(ahead / HOUR_MS)).toBe(2);
    expect(warnings).toEqual([{ file }]);
  });

  it.each(['', '-5', '1.5', 'soon'])('throws for a file with %j', async (text) => {
    await writeFile(file, text);
    expect(() => clockOf(deps, file).now()).toThrow('must contain a whole number of seconds');
  });
});
