import { readdir, readFile, readlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { FORMATS } from '#crds/catalogue/formats.ts';
import { freshDirectory, type Fixture } from '#test/fixtures/engine-work.ts';
import { makeOfficeFixtures } from '#test/fixtures/make-office-fixtures.ts';
import { exportFilter, importFilter, type OfficeKind } from '#worker-image/engine/office/office-filters.ts';
import { convertDocument, startOffice } from '#worker-image/engine/office/start-office.ts';
import { makeRunCommand, ToolKilled } from '#worker-image/tools/run-command.ts';

const { signal } = new AbortController();

/** Returns a process that waits for documents, its process id, and a function that has it convert text to text. */
async function waitingOffice(kind: OfficeKind | null) {
  const folder = await freshDirectory();
  let pid = 0;
  const run = makeRunCommand({ onGroup: (leader) => (pid = leader) });
  const office = await startOffice(run, { folder, kind });
  if (office === null) throw new Error('python3-uno is not installed');
  const convert = async (rtf: string, importFilter = 'Rich Text Format') => {
    const documents = await freshDirectory();
    const [source, output] = [join(documents, 'note.rtf'), join(documents, 'note.txt')];
    await writeFile(source, rtf);
    const filters = { import: importFilter, export: 'Text (encoded):UTF8' };
    const conversion = { folder: documents, kind: 'word' as const, urls: urlsOf(source, output), filters };
    const result = await convertDocument(office, conversion, signal);
    return { result, text: await readFile(output, 'utf8').catch(() => null), documents };
  };
  return { office, folder, convert, pid };
}

function urlsOf(source: string, output: string) {
  return { source: pathToFileURL(source).href, output: pathToFileURL(output).href };
}

/** Returns the id of the process of the document that is being converted. */
async function documentProcess(office: number): Promise<number> {
  const children = () => readFile(`/proc/${office}/task/${office}/children`, 'utf8').catch(() => '');
  for (;;) {
    const [pid] = (await children()).split(' ');
    if (pid !== undefined && pid !== '' && (await openFile(Number(pid), 0)) === '/dev/null') return Number(pid);
    await setTimeout(1);
  }
}

function openFile(pid: number, descriptor: number | string): Promise<string> {
  return readlink(`/proc/${pid}/fd/${descriptor}`).catch(() => '');
}

/** Text that takes a second to convert. */
const LONG = `{\\rtf1 ${'Words of a paragraph\\par '.repeat(50_000)}}`;

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

  it('goes on after the process of a document was killed', async () => {
    const { office, convert, pid } = await waitingOffice('word');
    const killed = convert(LONG);
    killed.catch(() => undefined);
    process.kill(await documentProcess(pid), 'SIGKILL');
    await expect(killed).rejects.toBeInstanceOf(ToolKilled);
    expect(office.isReusable()).toBe(true);
    expect((await convert('{\\rtf1 Words}')).text).toContain('Words');
    await office.end();
  });

  it('reads responses from a socket that the process of a document does not have', async () => {
    const { office, convert, pid } = await waitingOffice('word');
    const converted = convert(LONG);
    const ofDocument = await documentProcess(pid);
    const descriptors = await readdir(`/proc/${ofDocument}/fd`);
    const files = await Promise.all(descriptors.map((descriptor) => openFile(ofDocument, descriptor)));
    const sockets = await Promise.all([0, 1].map((descriptor) => openFile(pid, descriptor)));
    expect(sockets).toEqual([expect.stringContaining('socket:'), expect.stringContaining('socket:')]);
    expect(files.filter((file) => sockets.includes(file))).toEqual([]);
    expect((await converted).result).toMatchObject({ exitCode: 0 });
    await office.end();
  });

  it('has a new profile for each document, and none itself', async () => {
    const { office, convert, pid } = await waitingOffice('word');
    const settings = async (documents: string) => {
      const [own = ''] = (await readdir(documents)).filter((name) => name.startsWith('office-'));
      return join(documents, own, 'profile/user/registrymodifications.xcu');
    };
    const first = await settings((await convert('{\\rtf1 Words}')).documents);
    await writeFile(first, 'changed by a document');
    const second = await settings((await convert('{\\rtf1 Words}')).documents);
    expect(second).not.toBe(first);
    expect(await readFile(second, 'utf8')).toContain('DisableMacrosExecution');
    expect(await readlink(`/proc/${pid}/cwd`)).toContain('(deleted)');
    await office.end();
  });

  it('writes the same files whatever documents came before', async () => {
    const { office } = await waitingOffice('presentation');
    const fixtures = await makeOfficeFixtures(await freshDirectory());
    const pdfOf = async ({ path, format }: Fixture): Promise<string> => {
      const documents = await freshDirectory();
      const kind = FORMATS[format].kind as OfficeKind;
      const output = join(documents, 'output.pdf');
      const filters = { import: importFilter(format), export: exportFilter(kind, 'pdf') ?? '' };
      await convertDocument(office, { folder: documents, kind, urls: urlsOf(path, output), filters }, signal);
      return (await readFile(output, 'latin1')).replaceAll(
        /\/CreationDate\(.*?\)|\/ID \[[^\]]*\]|\/DocChecksum \/\w+/g,
        '',
      );
    };
    const pdfs = new Map<string, string>();
    for (const fixture of fixtures) pdfs.set(fixture.name, await pdfOf(fixture));
    for (const fixture of fixtures.toReversed()) expect(await pdfOf(fixture)).toBe(pdfs.get(fixture.name));
    expect(new Set(pdfs.values()).size).toBe(fixtures.length);
    await office.end();
  });
});
