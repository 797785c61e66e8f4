import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { engineDeps, freshDirectory } from '#test/fixtures/engine-work.ts';
import type { PreparedTool } from '#worker-image/engine/handler.ts';
import { runLibreOffice } from '#worker-image/engine/office/run-libreoffice.ts';
import { startOffice } from '#worker-image/engine/office/start-office.ts';
import { makeRunCommand } from '#worker-image/tools/run-command.ts';

async function toText(rtf: string, importFilter: string | null, prepared: PreparedTool | null = null) {
  const directory = await freshDirectory();
  const path = join(directory, 'input');
  await writeFile(path, rtf);
  const conversion = {
    kind: 'word' as const,
    path,
    name: 'letter',
    extension: 'rtf',
    importFilter,
    target: 'txt',
    exportFilter: 'Text (encoded):UTF8',
  };
  return { directory, output: await runLibreOffice(engineDeps({ prepared }), { ...conversion, directory }) };
}

describe('runLibreOffice', () => {
  it('converts a document whose name has no extension into a directory of its own', async () => {
    const { directory, output } = await toText('{\\rtf1 Words of a document}', 'Rich Text Format');
    expect(output).toEqual({
      path: join(directory, 'converted/document.txt'),
      directory: join(directory, 'converted'),
    });
    expect(await readFile(output?.path ?? '', 'utf8')).toContain('Words of a document');
  });

  it('starts with neither samples nor a copy in the profile', async () => {
    const { directory } = await toText('{\\rtf1 Words}', 'Rich Text Format');
    const [office = ''] = (await readdir(directory)).filter((name) => name.startsWith('office-'));
    const names = await readdir(join(directory, office, 'profile/user'));
    expect(names).toContain('registrymodifications.xcu');
    expect(names.filter((name) => ['gallery', 'database', 'pack'].includes(name))).toEqual([]);
  });

  it('converts by the command line when the process that was started for the file has ended', async () => {
    const folder = await freshDirectory();
    const prepared = await startOffice(makeRunCommand(), { folder, kind: null });
    await prepared?.end();
    expect(prepared).not.toBeNull();
    const { output } = await toText('{\\rtf1 Words by the command line}', 'Rich Text Format', prepared);
    expect(await readFile(output?.path ?? '', 'utf8')).toContain('Words by the command line');
  });

  it('returns null when LibreOffice writes no document', async () => {
    expect((await toText('{\\rtf1 Words}', 'impress8')).output).toBeNull();
  });
});
