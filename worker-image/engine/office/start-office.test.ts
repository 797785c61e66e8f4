import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { freshDirectory } from '#test/fixtures/engine-work.ts';
import { convertDocument, startOffice } from '#worker-image/engine/office/start-office.ts';
import { makeRunCommand } from '#worker-image/tools/run-command.ts';

const { signal } = new AbortController();

/** Returns a process that waits for documents, and a function that has it convert text to text. */
async function waitingOffice(kind: 'word' | null) {
  const folder = await freshDirectory();
  const office = await startOffice(makeRunCommand(), { folder, kind });
  if (office === null) throw new Error('python3-uno is not installed');
  const convert = async (rtf: string, importFilter = 'Rich Text Format') => {
    const documents = await freshDirectory();
    const [source, output] = [join(documents, 'note.rtf'), join(documents, 'note.txt')];
    await writeFile(source, rtf);
    const urls = { source: pathToFileURL(source).href, output: pathToFileURL(output).href };
    const filters = { import: importFilter, export: 'Text (encoded):UTF8' };
    const result = await convertDocument(office, { folder: documents, kind: 'word', urls, filters }, signal);
    return { result, text: await readFile(output, 'utf8').catch(() => null), documents };
  };
  return { office, folder, convert };
}

describe('startOffice', () => {
  it.each(['word', null] as const)('converts the documents that it is sent, prepared for %s', async (kind) => {
    const { office, folder, convert } = await waitingOffice(kind);
    for (const words of ['Words of a note', 'Words of another', 'Words of a third']) {
      const { result, text } = await convert(`{\\rtf1 ${words}}`);
      expect(result).toMatchObject({ exitCode: 0 });
      expect(text).toContain(words);
    }
    expect(office.isReusable()).toBe(true);
    expect(await readdir(folder)).toEqual([]);
    await office.end();
  });

  it('reports a document that it cannot open by its exit code, and converts the next one', async () => {
    const { office, convert } = await waitingOffice(null);
    expect((await convert('{\\rtf1 Words}', 'impress8')).result).toMatchObject({ exitCode: 1 });
    expect((await convert('{\\rtf1 Words}')).text).toContain('Words');
    await office.end();
  });

  it('leaves neither process nor files when no document comes', async () => {
    const { office, folder, convert } = await waitingOffice('word');
    await office.end();
    expect(office.isReusable()).toBe(false);
    expect(await readdir(folder)).toEqual([]);
    expect((await convert('{\\rtf1 Words}')).result).toBeNull();
  });

  it('ends with the signal of its document', async () => {
    const { office, folder } = await waitingOffice(null);
    const stop = new AbortController();
    const sent = office.send([folder, 'swriter', 'file:///missing', '', 'file:///missing', ''].join('\t'), stop.signal);
    stop.abort(new Error('not wanted any more'));
    await expect(sent).rejects.toThrow('not wanted any more');
    await office.end();
    expect(await readdir(folder)).toEqual([]);
  });
});
