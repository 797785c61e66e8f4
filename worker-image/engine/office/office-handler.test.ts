import { readFile, truncate, copyFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FORMATS, type Format } from '#crds/catalogue/formats.ts';
import { engineDeps, freshDirectory, runHandler, workOn, type Fixture } from '#test/fixtures/engine-work.ts';
import {
  flatDocument,
  makeOfficeFixtures,
  OFFICE_WORDS,
  wordTwoDocument,
} from '#test/fixtures/make-office-fixtures.ts';
import { chartSheet, docx, odf, WORDS, xlsx } from '#test/hostile/forge-office.ts';
import { xls } from '#test/hostile/forge-xls.ts';
import type { Produced } from '#worker-image/engine/handler.ts';
import { presentationHandler, sheetHandler, wordHandler } from '#worker-image/engine/office/office-handler.ts';

const HANDLERS = { word: wordHandler, sheet: sheetHandler, presentation: presentationHandler };
type OfficeKind = keyof typeof HANDLERS;

interface NamedDocument {
  readonly format: Format;
  readonly to: string;
  readonly filename: string;
}

let directory = '';
let fixtures: Map<Format, Fixture>;

beforeAll(async () => {
  directory = await freshDirectory();
  fixtures = new Map((await makeOfficeFixtures(directory)).map((fixture) => [fixture.format, fixture]));
});

function fixture(format: Format): Fixture {
  const found = fixtures.get(format);
  if (found === undefined) throw new Error(`no fixture for ${format}`);
  return found;
}

function sample(name: string, format: Format): Fixture {
  return { name, path: join(import.meta.dirname, '../../../api/data/samples', name), format };
}

async function convert(kind: OfficeKind, source: Fixture, to: string): Promise<Produced> {
  return runHandler(HANDLERS[kind], await workOn({ ...source, operation: 'convert', options: { convert: { to } } }));
}

/** Converts a document that the caller sends under a name. */
async function convertNamed(bytes: Buffer, { format, to, filename }: NamedDocument): Promise<Produced> {
  const path = join(await freshDirectory(), `named.${format}`);
  await writeFile(path, bytes);
  const kind = FORMATS[format].kind as OfficeKind;
  const options = { convert: { to } };
  return runHandler(HANDLERS[kind], await workOn({ path, format, operation: 'convert', options, filename }));
}

async function pdfText({ path }: Pick<Produced, 'path'>): Promise<string> {
  return output('pdftotext', [path, '-']);
}

async function output(file: string, args: readonly string[]): Promise<string> {
  const { signal } = new AbortController();
  const { stdout } = await engineDeps().run({ file, args, directory, signal, timeoutSeconds: 30 });
  return stdout;
}

/** Returns a workbook with a column of values, most of which have a number format. */
function formattedCells(): Buffer {
  const codes = ['00000', '000-0000', 'dd.mm.yyyy', 'hh:mm', '0%', 'General'];
  const values = [123, 5551234, 45385, 0.5451388888888888, 0.1234, 12345678901234];
  const rows = values.map((value, index) => styledRow(index + 2, index, `<v>${value}</v>`));
  rows.push('<row r="8"><c r="A8" t="b"><v>1</v></c></row><row r="9"><c r="A9" t="e"><v>#DIV/0!</v></c></row>');
  return styledCells(codes, rows);
}

/** Returns a workbook with serial numbers before March 1900; the fourth one is of a formula. */
function earlyDates(): Buffer {
  const date = 'dd.mm.yyyy';
  const values = ['<v>1</v>', '<v>59</v>', '<v>61</v>', '<f>A2+1</f><v>2</v>', '<v>1</v>', '<v>1.5</v>', '<v>31</v>'];
  const rows = values.map((value, index) => styledRow(index + 2, index, value));
  return styledCells([date, date, date, date, 'dddd', '[h]:mm', 'General'], rows);
}

function styledRow(row: number, style: number, content: string): string {
  return `<row r="${row}"><c r="A${row}" s="${style}">${content}</c></row>`;
}

/** Returns a workbook with these rows, in which the number formats are the cells' styles. */
function styledCells(codes: readonly string[], rows: readonly string[]): Buffer {
  const formats = codes.map((code, index) => `<numFmt numFmtId="${200 + index}" formatCode="${code}"/>`);
  const cellFormats = codes.map((_code, index) => `<xf numFmtId="${200 + index}" applyNumberFormat="1"/>`);
  const styles = `<numFmts>${formats.join('')}</numFmts><fonts><font/></fonts><fills><fill/></fills><borders><border/></borders><cellStyleXfs><xf/></cellStyleXfs><cellXfs>${cellFormats.join('')}</cellXfs>`;
  return xlsx({
    rows: rows.join(''),
    links: [{ id: 'rIdStyles', type: 'styles', target: 'styles.xml' }],
    types: [['/xl/styles.xml', 'application/vnd.openxmlformats-officedocument.spreadsheetml.styles+xml']],
    parts: [
      {
        name: 'xl/styles.xml',
        data: `<styleSheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">${styles}</styleSheet>`,
      },
    ],
  });
}

function hiddenSheet(): Buffer {
  return xlsx({
    sheetBefore: '<sheet name="H" sheetId="2" state="hidden" r:id="rId2"/>',
    links: [{ id: 'rId2', type: 'worksheet', target: 'worksheets/sheet2.xml' }],
    types: [['/xl/worksheets/sheet2.xml', 'application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml']],
    parts: [
      {
        name: 'xl/worksheets/sheet2.xml',
        data: `<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData><row r="1"><c r="A1"><v>7</v></c></row></sheetData></worksheet>`,
      },
    ],
  });
}

function odsRow(words: string): string {
  return `<table:table-row><table:table-cell office:value-type="string"><text:p>${words}</text:p></table:table-cell></table:table-row>`;
}

// test/matrix converts every format to every target.
describe('the converted document', () => {
  it.each([
    ['word', 'fodt'],
    ['sheet', 'fods'],
    ['presentation', 'fodp'],
  ] as const)('is a PDF with the words of a %s', async (kind, format) => {
    const produced = await convert(kind, fixture(format), 'pdf');
    expect(produced.format).toBe('pdf');
    expect(await pdfText(produced)).toContain(OFFICE_WORDS[kind]);
  });

  it('is the first sheet as CSV in UTF-8, with quotes where CSV needs them', async () => {
    const { path, warnings } = await convert('sheet', fixture('fods'), 'csv');
    expect(await readFile(path, 'utf8')).toMatch(/^name,note\n"Jürgen, ""J""",0010\ntwo\u00A0words,x\n/);
    expect(warnings).toEqual(['A csv file contains one sheet: the other one was dropped.']);
  });

  it.each([
    ['hidden in xlsx', 'xlsx', hiddenSheet()],
    ['a chart sheet', 'xlsx', chartSheet()],
    [
      'hidden in ods',
      'ods',
      odf(false, {
        type: 'spreadsheet',
        before: `<office:automatic-styles><style:style style:name="ta1" style:family="table"><style:table-properties table:display="false"/></style:style></office:automatic-styles>`,
        body: `<table:table table:name="H" table:style-name="ta1">${odsRow('hidden')}</table:table><table:table table:name="A">${odsRow(WORDS)}</table:table>`,
      }),
    ],
  ] as const)('is the first visible worksheet as CSV when the first sheet is %s', async (name, format, bytes) => {
    const path = join(directory, `${name}.${format}`);
    await writeFile(path, bytes);
    const { path: csv, warnings } = await convert('sheet', { name, path, format }, 'csv');
    expect(await readFile(csv, 'utf8')).toBe(`${WORDS}\n`);
    expect(warnings).toEqual(['A csv file contains one sheet: the other one was dropped.']);
  });

  it('has the dates of January and February 1900 that Excel displays, and its names of weekdays', async () => {
    const path = join(directory, 'early.xlsx');
    await writeFile(path, earlyDates());
    const source = { name: 'early', path, format: 'xlsx' } as const;
    const shown = [WORDS, '01.01.1900', '28.02.1900', '01.03.1900', '02.01.1900', 'Sunday', '36:00', '31', ''];
    expect((await readFile((await convert('sheet', source, 'csv')).path, 'utf8')).split('\n')).toEqual(shown);
    const ods = { name: 'early', path: (await convert('sheet', source, 'ods')).path, format: 'ods' } as const;
    expect((await readFile((await convert('sheet', ods, 'csv')).path, 'utf8')).split('\n')).toEqual(shown);
    const again = { ...source, path: (await convert('sheet', source, 'xlsx')).path };
    expect((await readFile((await convert('sheet', again, 'csv')).path, 'utf8')).split('\n')).toEqual(shown);
  });

  it('has CSV cells as the spreadsheet displays them', async () => {
    const path = join(directory, 'shown.xlsx');
    await writeFile(path, formattedCells());
    const produced = await convert('sheet', { name: 'shown', path, format: 'xlsx' }, 'csv');
    expect((await readFile(produced.path, 'utf8')).split('\n').slice(1)).toEqual([
      '00123',
      '555-1234',
      '03.04.2024',
      '13:05',
      '12%',
      '12345678901234',
      'TRUE',
      '#DIV/0!',
      '',
    ]);
    expect(produced.warnings).toEqual([]);
  });

  it.each([
    ['xls', xls({ cells: [[0, 0]], booleans: [true, false], stored: [12.5, 3] }), /^TRUE,12\.5\nFALSE,3\n$/],
    [
      'xlsx',
      xlsx({
        rows: `<row r="2"><c r="A2" t="str"><f>_xlfn.UNKNOWN(A1)</f><v>found</v></c><c r="B2"><f>_xlfn.UNKNOWN(1)</f><v>12.5</v></c><c r="C2" t="b"><f>_xlfn.UNKNOWN(2)</f><v>1</v></c><c r="D2" t="e"><f>_xlfn.UNKNOWN(3)</f><v>#N/A</v></c><c r="E2" t="str"><f>CELL("filename",A1)</f><v>C:\\[a.xlsx]A</v></c><c r="F2"><f>TYPE(D2)</f><v>16</v></c><c r="G2"><f>1+2</f></c></row>`,
      }),
      /^[^\n]*\nfound,12\.5,TRUE,#N\/A,C:\\\[a\.xlsx\]A,16,3\n$/,
    ],
  ] as const)(
    'has the values that Excel stored in %s, also of formulas that LibreOffice cannot calculate',
    async (format, bytes, csv) => {
      const path = join(directory, `stored.${format}`);
      await writeFile(path, bytes);
      const produced = await convert('sheet', { name: 'stored', path, format }, 'csv');
      expect(await readFile(produced.path, 'utf8')).toMatch(csv);
    },
  );

  it('is text in UTF-8', async () => {
    const { path } = await convert('word', fixture('fodt'), 'txt');
    expect(await readFile(path, 'utf8')).toContain(OFFICE_WORDS.word);
  });

  it.each(['word', 'sheet'] as const)('is one HTML file of a %s with embedded images', async (kind) => {
    const source = kind === 'word' ? sample('letter.odt', 'odt') : fixture('fods');
    const html = await readFile((await convert(kind, source, 'html')).path, 'utf8');
    expect(html).toMatch(/src="data:image\/(?:png|jpeg);base64,/);
    expect(html).toMatch(/charset=utf-8/i);
    expect(html).not.toMatch(/src="(?!data:)/);
  });

  it.each([
    ['windows-1252', Buffer.from('Gr\xfc\xdfe aus K\xf6ln', 'latin1')],
    ['UTF-16', Buffer.from('\uFEFFGrüße aus Köln', 'utf16le')],
  ])('contains the text of a plain file in %s', async (name, bytes) => {
    const path = join(directory, `${name}.txt`);
    await writeFile(path, bytes);
    const produced = await convert('word', { name, path, format: 'txt' }, 'pdf');
    expect(await pdfText(produced)).toContain(OFFICE_WORDS.word);
    const guessed = name === 'windows-1252' ? [expect.stringContaining('read as Windows-1252')] : [];
    expect(produced.warnings).toEqual(guessed);
  });

  it('contains the text of a Word 2 document', async () => {
    const path = join(directory, 'old.doc');
    await writeFile(path, wordTwoDocument(OFFICE_WORDS.word));
    const produced = await convert('word', { name: 'old.doc', path, format: 'doc' }, 'pdf');
    expect(await pdfText(produced)).toContain(OFFICE_WORDS.word);
  });
});

describe('the conversion', () => {
  // Promise, Bad input, case by case: Damaged documents
  it.each([
    ['word', 'docx', docx({})],
    [
      'presentation',
      'odp',
      odf(false, {
        type: 'presentation',
        body: `<draw:page><draw:frame svg:width="9cm" svg:height="2cm"><draw:text-box><text:p>${WORDS}</text:p></draw:text-box></draw:frame></draw:page>`,
      }),
    ],
  ] as const)('has the words of a %s with bytes behind its end', async (kind, format, bytes) => {
    const path = join(directory, `longer.${format}`);
    await writeFile(path, Buffer.concat([bytes, Buffer.from('\r\n')]));
    expect(await pdfText(await convert(kind, { name: 'longer', path, format }, 'pdf'))).toContain(WORDS);
  });

  it('finds the entries of a package with backslashes in their names', async () => {
    const path = join(directory, 'backslashes.docx');
    const bytes = docx({}).toString('latin1').replaceAll('word/', 'word\\');
    await writeFile(path, Buffer.from(bytes, 'latin1'));
    const produced = await convert('word', { name: 'backslashes', path, format: 'docx' }, 'pdf');
    expect(await pdfText(produced)).toContain(WORDS);
  });

  it('refuses a truncated document, for which LibreOffice reports success', async () => {
    const path = join(directory, 'truncated.docx');
    await copyFile(sample('letter.docx', 'docx').path, path);
    await truncate(path, 2000);
    await expect(convert('word', { name: 'truncated', path, format: 'docx' }, 'pdf')).rejects.toMatchObject({
      code: 'processing_failed',
    });
  });

  it('opens a file only as the type that it was identified as', async () => {
    const path = join(directory, 'page.docx');
    await writeFile(path, '<html><body>words</body></html>');
    await expect(convert('word', { name: 'page', path, format: 'docx' }, 'pdf')).rejects.toMatchObject({
      code: 'processing_failed',
    });
  });

  it('refuses a document with content that LibreOffice omits', async () => {
    const path = join(directory, 'chunk.docx');
    const links = [{ id: 'chunk', type: 'aFChunk', target: 'page.html' }];
    await writeFile(path, docx({ body: '<w:altChunk r:id="chunk"/>', links }));
    await expect(convert('word', { name: 'chunk', path, format: 'docx' }, 'pdf')).rejects.toMatchObject({
      code: 'processing_failed',
    });
  });

  it('refuses a sheet that spans so many empty cells that a PDF would take minutes', async () => {
    const path = join(directory, 'far.xlsx');
    await writeFile(
      path,
      xlsx({ rows: '<row r="2"><c r="XFD2"><v>1</v></c></row><row r="1048576"><c r="A1048576"><v>1</v></c></row>' }),
    );
    await expect(convert('sheet', { name: 'far', path, format: 'xlsx' }, 'pdf')).rejects.toMatchObject({
      code: 'limit_exceeded',
    });
  });

  it('refuses a target of another kind', async () => {
    await expect(convert('presentation', fixture('fodp'), 'xlsx')).rejects.toMatchObject({
      code: 'unsupported_target',
    });
  });
});

const nameField = (code: string): string =>
  `<w:p><w:r><w:t xml:space="preserve">name: </w:t></w:r><w:fldSimple w:instr=" FILENAME ${code} "><w:r><w:t>C:\\old.docx</w:t></w:r></w:fldSimple></w:p>`;
const odfName = (display: string): string =>
  `<text:p>${display}: <text:file-name text:display="${display}" text:fixed="false">file:///C:/old.odt</text:file-name></text:p>`;

/** Returns a flat document whose footer has these paragraphs. */
function withFooter(type: 'text' | 'spreadsheet', footer: string): Buffer {
  const layout =
    '<style:page-layout style:name="L"><style:footer-style><style:header-footer-properties svg:height="2cm"/></style:footer-style></style:page-layout>';
  const master = type === 'text' ? 'Standard' : 'Default';
  const table = `<table:table table:name="A" table:style-name="ta">${odsRow(WORDS)}</table:table>`;
  const style = `<style:style style:name="ta" style:family="table" style:master-page-name="${master}"/>`;
  return odf(true, {
    type,
    before: `<office:automatic-styles>${layout}${style}</office:automatic-styles><office:master-styles><style:master-page style:name="${master}" style:page-layout-name="L"><style:footer>${footer}</style:footer></style:master-page></office:master-styles>`,
    body: type === 'text' ? `<text:p>${WORDS}</text:p>` : table,
  });
}

describe('fields with the name of the file', () => {
  const footer = '<headerFooter><oddFooter>&amp;L&amp;Z&amp;F&amp;Rfile &amp;F</oddFooter></headerFooter>';
  const both = odfName('full') + odfName('path') + odfName('name') + odfName('name-and-extension');
  it.each([
    ['docx', docx({ body: nameField('\\\\p') + nameField('') }), 2],
    ['fodt', withFooter('text', both), 3],
    ['fods', withFooter('spreadsheet', both), 3],
    ['xlsx', xlsx({ sheetEnd: footer }), 2],
  ] as const)("show the caller's name without a folder in %s", async (format, bytes, times) => {
    const pdf = await convertNamed(bytes, { format, to: 'pdf', filename: `Jürgens Rechnung 7.${format}` });
    const text = await pdfText(pdf);
    expect(text).not.toContain('/');
    expect(text.match(/Jürgens Rechnung 7/g)).toHaveLength(times);
  });

  it('show a neutral name where the caller has sent none that is simple', async () => {
    const pdf = await convertNamed(docx({ body: nameField('') }), { format: 'docx', to: 'pdf', filename: 'a\nb.docx' });
    expect(await pdfText(pdf)).toContain('name: document.docx');
  });
});

describe('tracked changes', () => {
  const change = (tag: string, id: number, content: string): string =>
    `<w:${tag} w:id="${id}" w:author="A" w:date="2026-01-01T00:00:00Z"><w:r>${content}</w:r></w:${tag}>`;
  const body = `<w:p><w:r><w:t xml:space="preserve">We pay </w:t></w:r>${change('del', 1, '<w:delText>much</w:delText>')}${change('ins', 2, '<w:t>little</w:t>')}<w:r><w:t>.</w:t></w:r></w:p>`;
  it.each(['txt', 'html'] as const)('are accepted in %s', async (to) => {
    const { path } = await convertNamed(docx({ body }), { format: 'docx', to, filename: 'a.docx' });
    const text = (await readFile(path, 'utf8')).replaceAll(/<[^>]*>/g, '');
    expect(text).toContain('We pay little.');
  });
});

describe('hidden sheets', () => {
  it.each(['pdf', 'html'])('are omitted with a warning in %s', async (to) => {
    const { path, warnings } = await convertNamed(hiddenSheet(), { format: 'xlsx', to, filename: 'a.xlsx' });
    expect(to === 'html' ? await readFile(path, 'utf8') : await pdfText({ path })).not.toMatch(/^7$|>7</m);
    expect(warnings).toEqual(['A hidden sheet was omitted.']);
  });
});

describe('links in a document', () => {
  const requested: string[] = [];
  const server = createServer((request, response) => {
    requested.push(request.url ?? '');
    response.end();
  });
  beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
  afterAll(() => new Promise((resolve) => server.close(resolve)));

  it('to addresses and files are not followed', async () => {
    const { port } = server.address() as AddressInfo;
    const secret = join(directory, 'secret.txt');
    await writeFile(secret, 'the secret words');
    const image = (href: string): string =>
      `<draw:frame text:anchor-type="as-char" svg:width="2cm" svg:height="2cm"><draw:image xlink:href="${href}" xlink:type="simple" xlink:show="embed" xlink:actuate="onLoad"/></draw:frame>`;
    const section = `<text:section text:name="s"><text:section-source xlink:href="file://${secret}"/><text:p>before</text:p></text:section>`;
    const path = join(directory, 'links.fodt');
    await writeFile(
      path,
      flatDocument('text', `<text:p>${image(`http://127.0.0.1:${port}/canary.png`)} words</text:p>${section}`),
    );
    const produced = await convert('word', { name: 'links', path, format: 'fodt' }, 'pdf');
    expect(requested).toEqual([]);
    expect(await pdfText(produced)).not.toContain('secret');
  });
});

describe('the fonts of a document', () => {
  it('are Liberation in place of Helvetica and Times of Macs, whose lines have about the same height', async () => {
    const path = join(directory, 'mac.rtf');
    await writeFile(path, String.raw`{\rtf1{\fonttbl{\f0 Helvetica;}{\f1 Times;}}\f0 first\par\f1 second}`);
    const pdf = await convert('word', { name: 'mac.rtf', path, format: 'rtf' }, 'pdf');
    const fonts = await output('pdffonts', [pdf.path]);
    expect([...fonts.matchAll(/\+(\w+)/g)].map(([, name]) => name)).toEqual(['LiberationSans', 'LiberationSerif']);
  });

  it('are Carlito and Liberation Sans in place of fonts of Microsoft that have no metric equivalent', async () => {
    const path = join(directory, 'office.rtf');
    const names = ['Aptos', 'Aptos Display', 'Aptos Narrow', 'Segoe UI', 'Tahoma'];
    const [table, text] = [names.map((name, at) => `{\\f${at} ${name};}`), names.map((_, at) => `\\f${at} word\\par`)];
    await writeFile(path, `{\\rtf1{\\fonttbl${table.join('')}}${text.join('')}}`);
    const pdf = await convert('word', { name: 'office.rtf', path, format: 'rtf' }, 'pdf');
    const fonts = await output('pdffonts', [pdf.path]);
    expect([...fonts.matchAll(/\+(\w+)/g)].map(([, name]) => name)).toEqual(['Carlito', 'LiberationSans']);
  });

  it('are complete for emoji', async () => {
    const path = join(directory, 'emoji.docx');
    await writeFile(path, docx({ body: '<w:p><w:r><w:t>😀🎉🚀✅👩‍💻🇩🇪</w:t></w:r></w:p>' }));
    const pdf = await convert('word', { name: 'emoji', path, format: 'docx' }, 'pdf');
    const fonts = await output('pdffonts', [pdf.path]);
    expect([...fonts.matchAll(/\+(\w+)/g)].map(([, name]) => name)).toEqual([expect.any(String), 'Symbola']);
  });
});
