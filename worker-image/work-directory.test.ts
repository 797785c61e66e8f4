import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeWorkDirectory, sweepWorkDirectories } from '#worker-image/work-directory.ts';

/** Process id above the largest one of Linux. */
const NO_PROCESS = 99_999_999;
let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'work-directory-'));
});
afterEach(() => rm(root, { recursive: true }));

describe('sweepWorkDirectories', () => {
  it('removes directories of ended processes and nothing else', async () => {
    const own = makeWorkDirectory(root);
    await mkdir(join(root, `mediajobs-work-${NO_PROCESS}-abc/deep`), { recursive: true });
    await mkdir(join(root, `other-${NO_PROCESS}-abc`));
    await sweepWorkDirectories(root);
    expect((await readdir(root)).toSorted()).toEqual([basename(own), `other-${NO_PROCESS}-abc`].toSorted());
  });
});
