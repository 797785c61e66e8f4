import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { engineDeps, freshDirectory } from '#test/fixtures/engine-work.ts';
import { runLibreOffice } from '#worker-image/engine/office/run-libreoffice.ts';

async function toText(rtf: string, importFilter: string | null) {
  const directory = await freshDirectory();
  const path = join(directory, 'input');
  await writeFile(path, rtf);
  const conversion = { path, extension: 'rtf', importFilter, target: 'txt', exportFilter: 'Text (encoded):UTF8' };
  return { directory, output: await runLibreOffice(engineDeps(), { ...conversion, directory }) };
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

  it('returns null when LibreOffice writes no document', async () => {
    expect((await toText('{\\rtf1 Words}', 'impress8')).output).toBeNull();
  });
});
