import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { freshDirectory } from '#test/fixtures/engine-work.ts';
import { startOffice } from '#worker-image/engine/office/start-office.ts';
import { makeRunCommand } from '#worker-image/tools/run-command.ts';

const { signal } = new AbortController();

/** Returns a process that waits for its document, and the paths of that document and of its conversion. */
async function waitingOffice(kind: 'word' | null) {
  const folder = await freshDirectory();
  const documents = await freshDirectory();
  const [source, output] = [join(documents, 'note.rtf'), join(documents, 'note.txt')];
  await writeFile(source, '{\\rtf1 Words of a note}');
  const office = await startOffice(makeRunCommand(), { folder, kind });
  if (office === null) throw new Error('python3-uno is not installed');
  const urls = [pathToFileURL(source).href, 'Rich Text Format', pathToFileURL(output).href, 'Text (encoded):UTF8'];
  return { office, folder, output, request: `${urls.join('\t')}\n` };
}

describe('startOffice', () => {
  it.each(['word', null] as const)('converts the document that it is sent, prepared for %s', async (kind) => {
    const { office, folder, output, request } = await waitingOffice(kind);
    expect(await office.send(request, signal)).toMatchObject({ exitCode: 0 });
    expect(await readFile(output, 'utf8')).toContain('Words of a note');
    await office.end();
    expect(await readdir(folder)).toEqual([]);
  });

  it('reports a document that it cannot open by its exit code', async () => {
    const { office, request } = await waitingOffice(null);
    expect(await office.send(request.replace('Rich Text Format', 'impress8'), signal)).toMatchObject({ exitCode: 1 });
    await office.end();
  });

  it('converts one document and no other', async () => {
    const { office, request } = await waitingOffice(null);
    await office.send(request, signal);
    expect(await office.send(request, signal)).toBeNull();
    await office.end();
  });

  it('leaves neither process nor files when no document comes', async () => {
    const { office, folder, request } = await waitingOffice('word');
    await office.end();
    expect(await readdir(folder)).toEqual([]);
    expect(await office.send(request, signal)).toBeNull();
  });

  it('ends with the signal of its document', async () => {
    const { office, request } = await waitingOffice(null);
    const stop = new AbortController();
    const sent = office.send(request, stop.signal);
    stop.abort(new Error('not wanted any more'));
    await expect(sent).rejects.toThrow('not wanted any more');
    await office.end();
  });
});
