import { link, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readTermination } from '#controller/read-termination.ts';
import { TERMINATION_BYTES } from '#crds/contract/run-files.ts';

const OUTCOME = { outcome: 'failed', error: { code: 'encrypted_pdf', message: 'The PDF needs a password.' } };

describe('readTermination', () => {
  let folder: string;
  let path: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'mediajobs-termination-'));
    path = join(folder, 'termination.json');
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  it('returns the outcome in the file', async () => {
    await writeFile(path, JSON.stringify(OUTCOME));
    expect(await readTermination(path)).toMatchObject(OUTCOME);
  });

  it('returns null without a file', async () => {
    expect(await readTermination(path)).toBeNull();
  });

  it('returns null for half an outcome', async () => {
    await writeFile(path, JSON.stringify(OUTCOME).slice(0, -1));
    expect(await readTermination(path)).toBeNull();
  });

  it('returns null for an outcome that is too long', async () => {
    await writeFile(path, JSON.stringify(OUTCOME).padEnd(TERMINATION_BYTES + 1));
    expect(await readTermination(path)).toBeNull();
  });

  it('returns null for a file that is not its own', async () => {
    await writeFile(path, JSON.stringify(OUTCOME));
    await link(path, join(folder, 'second'));
    expect(await readTermination(path)).toBeNull();
  });
});
