import { access, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { engineDeps, freshDirectory } from '#test/fixtures/engine-work.ts';
import { PdfWriter } from '#worker-image/engine/containers/pdf-writer.ts';
import { hasDamagedXref, readablePdf, repairPdf } from '#worker-image/engine/pdf/repair-pdf.ts';
import { runQpdf } from '#worker-image/engine/pdf/run-pdf-tool.ts';

function twoPages(): Buffer {
  const writer = new PdfWriter();
  const pages = writer.reserve();
  const page = (): number => writer.add(`<< /Type /Page /Parent ${pages} 0 R /MediaBox [0 0 72 72] >>`);
  writer.fill(pages, `<< /Type /Pages /Kids [${page()} 0 R ${page()} 0 R] /Count 2 >>`);
  return writer.finish(writer.add(`<< /Type /Catalog /Pages ${pages} 0 R >>`));
}

let work: { input: { path: string }; directory: string };
beforeAll(async () => {
  const directory = await freshDirectory();
  work = { directory, input: { path: join(directory, 'input.pdf') } };
});

/** Writes the input, and runs the real tools on it. */
async function repair(bytes: Buffer, pages: number): Promise<number> {
  await writeFile(work.input.path, bytes);
  return repairPdf(engineDeps(), work as Parameters<typeof repairPdf>[1], pages);
}

const readable = (): Promise<string> => readablePdf(work as Parameters<typeof readablePdf>[0]);

describe('repairPdf', () => {
  it('writes a copy that qpdf reads, of a file without its cross-reference table', async () => {
    const whole = twoPages();
    const cut = whole.subarray(0, whole.indexOf('xref\n'));
    expect(await repair(cut, 0)).toBe(2);
    expect(await readable()).not.toBe(work.input.path);
    expect(hasDamagedXref(await runQpdf(engineDeps(), work, ['--check', await readable()]))).toBe(false);
    expect((await readFile(work.input.path)).equals(cut)).toBe(true);
  });

  it('keeps no copy with fewer pages than qpdf found', async () => {
    expect(await repair(twoPages(), 3)).toBe(3);
    expect(await readable()).toBe(work.input.path);
    await expect(access(join(work.directory, 'repaired.pdf'))).rejects.toThrow('ENOENT');
  });

  it('keeps no copy of bytes that are no PDF', async () => {
    expect(await repair(Buffer.from('nothing of the kind'), 0)).toBe(0);
    expect(await readable()).toBe(work.input.path);
  });

  it('refuses a file that needs a password', async () => {
    const run = () => Promise.resolve({ exitCode: 3, stdout: '', stderr: '' });
    const repaired = repairPdf(engineDeps({ run }), work as Parameters<typeof repairPdf>[1], 0);
    await expect(repaired).rejects.toMatchObject({ code: 'encrypted_pdf' });
  });
});

describe('hasDamagedXref', () => {
  it.each([
    ['WARNING: x.pdf: Attempting to reconstruct cross-reference table', true],
    ['x.pdf: unable to find trailer dictionary while recovering damaged file', true],
    ['WARNING: x.pdf object 7 0: expected endobj', false],
    ['', false],
  ])('decides by the messages of qpdf: %j is %j', (stderr, expected) => {
    expect(hasDamagedXref({ exitCode: 3, stdout: '', stderr })).toBe(expected);
  });
});
