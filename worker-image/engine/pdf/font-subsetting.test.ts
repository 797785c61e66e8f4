/** Fonts of a PDF that compress subsets, or leaves whole because any of their glyphs may be needed. */
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { freshDirectory, runHandler, workOn } from '#test/fixtures/engine-work.ts';
import { unpackedPdf } from '#test/fixtures/make-pdf-fixtures.ts';
import { runTool } from '#test/fixtures/run-tool.ts';
import { PdfWriter } from '#worker-image/engine/containers/pdf-writer.ts';
import { pdfHandler } from '#worker-image/engine/pdf/pdf-handler.ts';

const TYPEFACE = '/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf';

interface Page {
  /** Entries of the font. `descriptor` is the number of its descriptor. */
  readonly font: (writer: PdfWriter, descriptor: number) => string;
  readonly content: string;
  /** Content of a form that the page can draw as /X, with fonts of its own unless it takes over the page's. */
  readonly form?: { readonly content: string; readonly hasFonts: boolean };
  readonly catalog?: string;
}

const simple =
  (encoding: string) =>
  (_: PdfWriter, descriptor: number): string =>
    `/Subtype /TrueType /BaseFont /DejaVuSans /FirstChar 32 /LastChar 126 /Widths [${'600 '.repeat(95)}] ${encoding} /FontDescriptor ${descriptor} 0 R`;

const composite =
  (map: string) =>
  (writer: PdfWriter, descriptor: number): string => {
    const inner = writer.add(
      `<< /Type /Font /Subtype /CIDFontType2 /BaseFont /DejaVuSans /CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> /DW 700 /FontDescriptor ${descriptor} 0 R ${map} >>`,
    );
    return `/Subtype /Type0 /BaseFont /DejaVuSans /Encoding /Identity-H /DescendantFonts [${inner} 0 R]`;
  };

async function onePage({ font, content, form, catalog = '' }: Page): Promise<Buffer> {
  const writer = new PdfWriter();
  const program = await readFile(TYPEFACE);
  const file = writer.addStream(`/Filter /FlateDecode /Length1 ${program.length}`, deflateSync(program));
  const descriptor = writer.add(
    `<< /Type /FontDescriptor /FontName /DejaVuSans /Flags 32 /FontBBox [-1000 -300 1500 1200] /ItalicAngle 0 /Ascent 900 /Descent -200 /CapHeight 700 /StemV 80 /FontFile2 ${file} 0 R >>`,
  );
  const fonts = `/Font << /F ${writer.add(`<< /Type /Font ${font(writer, descriptor)} >>`)} 0 R >>`;
  const own = form?.hasFonts ? `/Resources << ${fonts} >>` : '';
  const drawn = writer.addStream(
    `/Type /XObject /Subtype /Form /BBox [0 0 300 200] ${own}`,
    Buffer.from(form?.content ?? ''),
  );
  const stream = writer.addStream('', Buffer.from(content));
  const pages = writer.reserve();
  const page = writer.add(
    `<< /Type /Page /Parent ${pages} 0 R /MediaBox [0 0 300 200] /Contents ${stream} 0 R /Resources << ${fonts} /XObject << /X ${drawn} 0 R >> >> >>`,
  );
  writer.fill(pages, `<< /Type /Pages /Kids [${page} 0 R] /Count 1 >>`);
  return writer.finish(writer.add(`<< /Type /Catalog /Pages ${pages} 0 R ${catalog} >>`));
}

/** Returns paths of the file and of its compressed copy. */
async function compress(page: Page): Promise<{ directory: string; source: string; result: string }> {
  const directory = await freshDirectory();
  const source = join(directory, 'source.pdf');
  await writeFile(source, await onePage(page));
  const { path } = await runHandler(pdfHandler, await workOn({ path: source, format: 'pdf', operation: 'compress' }));
  return { directory, source, result: path };
}

async function pixels(directory: string, path: string): Promise<Buffer> {
  await runTool(directory, 'pdftoppm', ['-singlefile', '-r', '150', path, join(directory, 'page')]);
  return readFile(join(directory, 'page.ppm'));
}

async function fontBytes(directory: string, path: string): Promise<number> {
  return Number(/\/Length1 (\d+)/.exec(await unpackedPdf(directory, path))?.[1]);
}

const TEXT = 'BT /F 24 Tf 20 100 Td (Waves \\374ber) Tj ET';
const GLYPHS = 'BT /F 24 Tf 20 100 Td <0024002500440100> Tj ET';
const FORM = '/AcroForm << /Fields [<< /FT /Tx /T (a) /V (b) >>] >>';
const toGlyphs = (writer: PdfWriter): string => {
  const table = Buffer.alloc(2 * 0x101, 0);
  for (let code = 0; code <= 0x100; code += 1) table.writeUInt16BE(code + 40, 2 * code);
  return `/CIDToGIDMap ${writer.addStream('', table)} 0 R`;
};

describe('compress', () => {
  it.each<readonly [string, Page]>([
    ['a simple font', { font: simple('/Encoding /WinAnsiEncoding'), content: TEXT }],
    ['a simple font in MacRoman', { font: simple('/Encoding /MacRomanEncoding'), content: TEXT }],
    [
      'a simple font with names that say their character',
      { font: simple('/Encoding << /BaseEncoding /WinAnsiEncoding /Differences [87 /uni0057] >>'), content: TEXT },
    ],
    ['a simple font without an encoding', { font: simple(''), content: TEXT }],
    ['a font of glyph ids', { font: composite(''), content: GLYPHS }],
    ['a font with a map to glyph ids', { font: (...to) => composite(toGlyphs(to[0]))(...to), content: GLYPHS }],
    [
      'a font whose text is in a form',
      { font: simple('/Encoding /WinAnsiEncoding'), content: '/X Do', form: { content: TEXT, hasFonts: true } },
    ],
  ])('subsets %s, and the page looks the same', async (_what, page) => {
    const { directory, source, result } = await compress(page);
    expect((await stat(result)).size).toBeLessThan((await stat(source)).size / 10);
    expect((await pixels(directory, result)).equals(await pixels(directory, source))).toBe(true);
  });

  it.each<readonly [string, Page]>([
    [
      'with names of glyphs',
      { font: simple('/Encoding << /Type /Encoding /Differences [65 /Omega] >>'), content: TEXT },
    ],
    ['in a file with form fields', { font: simple(''), content: TEXT, catalog: FORM }],
    [
      'that a form takes over from its page',
      {
        font: simple('/Encoding /WinAnsiEncoding'),
        content: '/F 24 Tf /X Do',
        form: { content: 'BT 20 100 Td (Waves) Tj ET', hasFonts: false },
      },
    ],
  ])('leaves a font whole %s', async (_what, page) => {
    const { directory, source, result } = await compress(page);
    expect(await fontBytes(directory, result)).toBe(await fontBytes(directory, source));
  });
});
