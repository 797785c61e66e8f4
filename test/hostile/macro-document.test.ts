/** Proves that the macro of the hostile document runs where macros are allowed. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import { engineDeps, freshDirectory } from '#test/fixtures/engine-work.ts';
import { macroDocument } from '#test/hostile/macro-document.ts';

it('LibreOffice runs the macro of the hostile document when its profile allows macros', async () => {
  const directory = await freshDirectory();
  const [written, user] = [join(directory, 'written'), join(directory, 'profile', 'user')];
  await mkdir(user, { recursive: true });
  await writeFile(join(directory, 'a.odt'), macroDocument(written));
  await writeFile(
    join(user, 'registrymodifications.xcu'),
    '<?xml version="1.0" encoding="UTF-8"?><oor:items xmlns:oor="http://openoffice.org/2001/registry"><item oor:path="/org.openoffice.Office.Common/Security/Scripting"><prop oor:name="MacroSecurityLevel" oor:op="fuse"><value>0</value></prop></item></oor:items>',
  );
  // Opened, not converted: LibreOffice runs no macros during a conversion, whatever its profile allows.
  await engineDeps().run({
    file: 'soffice',
    args: [
      `-env:UserInstallation=${pathToFileURL(join(directory, 'profile')).href}`,
      '--headless',
      '--norestore',
      '--nologo',
      join(directory, 'a.odt'),
    ],
    directory,
    signal: new AbortController().signal,
    timeoutSeconds: 150,
  });
  expect(await readFile(written, 'utf8')).toContain('ran');
}, 180_000);
