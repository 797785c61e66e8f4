/** Hostile office documents. */
import { expect } from 'vitest';
import { equalBytes } from '#test/hostile/forge-deflate.ts';
import { docx, laughs, odf, odfXml, xlsx } from '#test/hostile/forge-office.ts';
import { xls } from '#test/hostile/forge-xls.ts';
import { zip, type ZipPart } from '#test/hostile/forge-zip.ts';
import { searchableText } from '#test/hostile/searchable-text.ts';
import { emf, wmf } from '#test/hostile/metafile.ts';
import { macroDocument } from '#test/hostile/macro-document.ts';
import type { HostileFile } from '#test/hostile/hostile-file.ts';

const TO_PDF = { operation: 'convert', options: { convert: { to: 'pdf' } } } as const;
const MIB = 1024 ** 2;

export const HOSTILE_DOCUMENTS: readonly HostileFile[] = [
  ...[
    ['docx', (doctype: string, name: string) => docx({ doctype, body: `<w:p><w:r><w:t>&${name};</w:t></w:r></w:p>` })],
    [
      'xlsx',
      (doctype: string, name: string) =>
        xlsx({ doctype, rows: `<row r="2"><c r="A2" t="inlineStr"><is><t>&${name};</t></is></c></row>` }),
    ],
    [
      'odt',
      (doctype: string, name: string) => odf(false, { type: 'text', doctype, body: `<text:p>&${name};</text:p>` }),
    ],
    [
      'fodt',
      (doctype: string, name: string) => odf(true, { type: 'text', doctype, body: `<text:p>&${name};</text:p>` }),
    ],
  ].flatMap(([format, make]): HostileFile[] => {
    const build = make as (doctype: string, name: string) => Buffer;
    return [
      {
        name: `a ${String(format)} of entities that laugh a thousand million times`,
        filename: `a.${String(format)}`,
        bytes: () => build(laughs(10), 'l10'),
        ...TO_PDF,
        ends: ['processing_failed', 'done', 'unsupported_input'],
      },
      {
        name: `a ${String(format)} with an entity of another file`,
        filename: `a.${String(format)}`,
        bytes: (bait) =>
          build(
            `<!DOCTYPE x [<!ENTITY f SYSTEM "${bait.fileUrl}"><!ENTITY h SYSTEM "${bait.url('entity')}">]>`,
            'f;&h',
          ),
        ...TO_PDF,
        ends: ['processing_failed', 'done'],
      },
    ];
  }),
  {
    name: 'an XLSX whose sheet decompresses to 600 MB',
    filename: 'a.xlsx',
    bytes: () => xlsx({ parts: [{ name: 'xl/worksheets/sheet2.xml', data: equalBytes(600 * MIB, 0x20) }] }),
    ...TO_PDF,
    ends: ['processing_failed'],
    says: /decompresses from \d+ to \d+ bytes; the maximum is 67108864/,
  },
  {
    name: 'an XLSX whose shared strings decompress to 300 MB and claim 300 bytes',
    filename: 'a.xlsx',
    bytes: () =>
      xlsx({
        links: [{ id: 'rIdStrings', type: 'sharedStrings', target: 'sharedStrings.xml' }],
        types: [
          ['/xl/sharedStrings.xml', 'application/vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml'],
        ],
        parts: [
          {
            name: 'xl/sharedStrings.xml',
            claims: 300,
            data: [
              {
                data: Buffer.from('<sst xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">'),
                times: 1,
              },
              { data: Buffer.from('<si><t>x</t></si>'.repeat(MIB / 16)), times: 282 },
              { data: Buffer.from('</sst>'), times: 1 },
            ],
          },
        ],
      }),
    ...TO_PDF,
    ends: ['processing_failed', 'done'],
  },
  {
    name: 'a DOCX of 5,000 entries that share their data',
    filename: 'a.docx',
    bytes: () =>
      zip([
        ...minimalDocx(),
        { name: 'kernel', data: Buffer.alloc(MIB) },
        ...Array.from({ length: 5000 }, (_, index) => ({ name: `e${index}`, data: '', sameAs: 2 })),
      ]),
    ...TO_PDF,
    ends: ['processing_failed'],
    says: /decompresses from/,
  },
  {
    name: 'a DOCX that contains itself',
    filename: 'a.docx',
    bytes: () => holdsItself([...minimalDocx(), { name: 'word/embeddings/a.docx', data: '' }]),
    ...TO_PDF,
    ends: ['done', 'processing_failed'],
  },
  {
    name: 'a DOCX of 20,000 entries',
    filename: 'a.docx',
    bytes: () =>
      zip([...minimalDocx(), ...Array.from({ length: 20_000 }, (_, index) => ({ name: `e${index}`, data: '' }))]),
    ...TO_PDF,
    ends: ['processing_failed'],
    says: /entries; at most 10000/,
  },
  ...['../../../x', '/etc/x', 'a\\..\\..\\x', 'C:/x'].map((name): HostileFile => ({
    name: `a DOCX with an entry named ${name}`,
    filename: 'a.docx',
    bytes: () => zip([...minimalDocx(), { name, data: 'x' }]),
    ...TO_PDF,
    ends: ['processing_failed'],
  })),
  {
    name: 'a DOCX whose image is a symbolic link',
    filename: 'a.docx',
    bytes: ({ path }) => docx({ parts: [{ name: 'word/media/a.png', data: path, mode: 0o120777 }] }),
    ...TO_PDF,
    ends: ['done', 'processing_failed'],
  },
  {
    name: 'a DOCX with its document twice',
    filename: 'a.docx',
    bytes: () => docx({ parts: [{ name: 'word/document.xml', data: '<broken' }] }),
    ...TO_PDF,
    ends: ['done', 'processing_failed'],
  },
  {
    name: 'a DOCX of paragraphs nested 50,000 deep',
    filename: 'a.docx',
    bytes: () => docx({ body: `${'<w:p><w:r>'.repeat(50_000)}x${'</w:r></w:p>'.repeat(50_000)}` }),
    ...TO_PDF,
    ends: ['done', 'processing_failed'],
  },
  {
    name: 'a DOCX of 300 tables nested',
    filename: 'a.docx',
    bytes: () => docx({ body: `${'<w:tbl><w:tr><w:tc>'.repeat(300)}${'<w:p/></w:tc></w:tr></w:tbl>'.repeat(300)}` }),
    ...TO_PDF,
    ends: ['processing_failed'],
    says: /nested more than 50 deep/,
  },
  {
    name: 'a flat spreadsheet of a thousand million cells by repetition',
    filename: 'a.fods',
    bytes: () => {
      const cells = `<table:table-cell office:value-type="string" table:number-columns-repeated="1000"><text:p>x</text:p></table:table-cell>`;
      const row = `<table:table-row table:number-rows-repeated="1000000">${cells}</table:table-row>`;
      return Buffer.from(
        odfXml({ type: 'spreadsheet', body: `<table:table table:name="A">${row}</table:table>` }, true),
      );
    },
    ...TO_PDF,
    ends: ['limit_exceeded'],
    says: /fills 1000000000 cells; at most 200000000/,
  },
  ...['csv', 'pdf'].map((to): HostileFile => ({
    name: `an XLSX for ${to} whose two cells lie in opposite corners`,
    filename: 'a.xlsx',
    bytes: () =>
      xlsx({
        rows: '<row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="XFD1048576"><v>2</v></c></row>',
      }),
    operation: 'convert',
    options: { convert: { to } },
    ends: ['limit_exceeded'],
    says: /spans 17179869184 cells; at most 1000000000/,
  })),
  {
    name: 'an ODT whose macro writes a file as soon as the document is open',
    filename: 'a.odt',
    bytes: ({ unwritten }) => macroDocument(unwritten),
    ...TO_PDF,
    ends: ['done'],
    // That no macro ran is asserted after all files.
    result: ({ result }) => expect(result?.output_format).toBe('pdf'),
  },
  {
    name: 'an ODT whose macro would go with it into another document',
    filename: 'a.odt',
    bytes: ({ unwritten }) => macroDocument(unwritten),
    operation: 'convert',
    options: { convert: { to: 'odt' } },
    ends: ['done'],
    result: (outcome) => expect(searchableText(outcome)).not.toContain('Sub Main'),
  },
  ...[
    ['EMF', emf(0x7fff_fff0)],
    ['WMF', wmf(0x7fff_fff0)],
  ].map(([name, data]): HostileFile => ({
    name: `a DOCX with an ${String(name)} whose records claim to be larger than any file`,
    filename: 'a.docx',
    bytes: () =>
      docx({
        body: embeddedPicture('rIdM'),
        links: [{ id: 'rIdM', type: 'image', target: `media/a.${String(name).toLowerCase()}` }],
        parts: [{ name: `word/media/a.${String(name).toLowerCase()}`, data: data as Buffer }],
      }),
    ...TO_PDF,
    ends: ['done', 'processing_failed'],
  })),
  {
    name: 'an RTF of groups nested 200,000 deep',
    filename: 'a.rtf',
    bytes: () => Buffer.from(`{\\rtf1 ${'{'.repeat(200_000)}x${'}'.repeat(200_000)}}`),
    ...TO_PDF,
    ends: ['limit_exceeded'],
  },
  {
    name: 'an RTF that claims 2 GB of binary data',
    filename: 'a.rtf',
    bytes: () => Buffer.from('{\\rtf1 {\\pict\\pngblip\\bin2147483647 xx}}'),
    ...TO_PDF,
    ends: ['processing_failed'],
    says: /data block of 2147483647 bytes/,
  },
  {
    name: 'an RTF of a million pages',
    filename: 'a.rtf',
    bytes: () => Buffer.from(`{\\rtf1 ${'x\\page '.repeat(1_000_000)}}`),
    ...TO_PDF,
    ends: ['limit_exceeded'],
    says: /more than 10000 page breaks/,
  },
  {
    name: 'a DOCX of 20,000 pages',
    filename: 'a.docx',
    bytes: () => docx({ body: '<w:p><w:r><w:br w:type="page"/></w:r></w:p>'.repeat(20_000) }),
    ...TO_PDF,
    ends: ['limit_exceeded'],
    says: /more than 10000 page breaks/,
  },
  {
    name: 'an XLS that prints all of its sixteen million cells, of which one is filled',
    filename: 'a.xls',
    bytes: () => xls({ cells: [[0, 0]], printed: [0xffff, 0xff] }),
    ...TO_PDF,
    ends: ['done'],
  },
  {
    name: 'an XLS of 3,000 cells that lie far from each other',
    filename: 'a.xls',
    bytes: () => xls({ cells: Array.from({ length: 3000 }, (_, index) => [index * 21, (index * 97) % 256] as const) }),
    ...TO_PDF,
    ends: ['done'],
  },
  {
    name: 'a ZIP of 24 bytes named odt',
    filename: 'a.odt',
    bytes: () => Buffer.from('PK\x05\x06\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0', 'latin1'),
    ...TO_PDF,
    ends: ['unsupported_input', 'processing_failed'],
  },
];

/** Returns an archive whose last entry has the end of the archive as data, so it contains itself. */
function holdsItself(parts: readonly ZipPart[]): Buffer {
  const file = zip(parts);
  const [before, inside] = [
    file.lastIndexOf('PK\x03\x04', file.length, 'latin1'),
    file.lastIndexOf('PK\x01\x02', file.length, 'latin1'),
  ];
  const begin = before + 30 + file.readUInt16LE(before + 26);
  for (const sizes of [before + 8, inside + 10]) {
    file.writeUInt16LE(0, sizes);
    file.writeUInt32LE(file.length - begin, sizes + 10);
    file.writeUInt32LE(file.length - begin, sizes + 14);
  }
  return file;
}

function embeddedPicture(id: string): string {
  return `<w:p><w:r><w:pict><v:shape style="width:90pt;height:90pt"><v:imagedata r:id="${id}"/></v:shape></w:pict></w:r></w:p>`;
}

function minimalDocx(): { name: string; data: string }[] {
  return [
    {
      name: '[Content_Types].xml',
      data: '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>',
    },
    {
      name: 'word/document.xml',
      data: '<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"/>',
    },
  ];
}
