import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { engineDeps, freshDirectory } from '#test/fixtures/engine-work.ts';
import { writeHardenedProfile } from '#worker-image/engine/office/hardened-profile.ts';
import { officeFolder } from '#worker-image/engine/office/office-program.ts';

/** Exit code by which LibreOffice requests a restart. */
const RESTART_REQUESTED = 81;

it('LibreOffice converts with a new profile at its first start, without a restart or a graphics test', async () => {
  const directory = await freshDirectory();
  await writeFile(join(directory, 'note.txt'), 'a note');
  const profile = await writeHardenedProfile(directory);
  const { exitCode } = await engineDeps().run({
    file: 'soffice',
    program: join(await officeFolder(), 'soffice.bin'),
    args: [`-env:UserInstallation=${profile}`, '--headless', '--convert-to', 'pdf', '--outdir', directory, 'note.txt'],
    directory,
    signal: new AbortController().signal,
    timeoutSeconds: 300,
  });
  expect(exitCode).not.toBe(RESTART_REQUESTED);
  expect(await readdir(join(directory, 'profile/user'))).not.toContain('GraphicsRenderTests.log');
});
