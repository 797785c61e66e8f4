/** Images in CMYK, which Pillow inverts when it reads and when it writes a JPEG. */
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import sharp from 'sharp';
import { beforeAll, describe, expect, it } from 'vitest';
import { freshDirectory, runHandler, workOn } from '#test/fixtures/engine-work.ts';
import { unpackedPdf } from '#test/fixtures/make-pdf-fixtures.ts';
import { photoLike } from '#test/fixtures/photo-like.ts';
import { runTool } from '#test/fixtures/run-tool.ts';
import { PdfWriter } from '#worker-image/engine/containers/pdf-writer.ts';
import { pdfHandler } from '#worker-image/engine/pdf/pdf-handler.ts';

const [WIDTH, HEIGHT] = [1200, 900];
/** Every second page of so many is compared when a PDF is compressed: not the second one. */
const PAGES = 9;
const INVERTED = '/Decode [1 0 1 0 1 0 1 0]';

/** Pillow writes the inverted values into a JPEG. */
const ENCODE = `
from PIL import Image, ImageChops
pixels = Image.frombytes("CMYK", (${WIDTH}, ${HEIGHT}), open("samples", "rb").read())
pixels.save("image.jp2")
ImageChops.invert(pixels).save("image.jpg", quality=95)`;

let samples: Buffer;
let [jpeg, jpeg2000]: Buffer[] = [];

beforeAll(async () => {
  const directory = await freshDirectory();
  samples = cmykSamples();
  await writeFile(join(directory, 'samples'), samples);
  await runTool(directory, 'python3', ['-I', '-c', ENCODE]);
  [jpeg, jpeg2000] = await Promise.all(['image.jpg', 'image.jp2'].map((name) => readFile(join(directory, name))));
});

describe('compress', () => {
  it.each<readonly [string, string, () => Buffer]>([
    ['JPEG 2000', '/Filter /JPXDecode', () => jpeg2000!],
    ['JPEG with an Adobe marker', '/Filter /DCTDecode', () => jpeg!],
    ['JPEG without an Adobe marker', '/Filter /DCTDecode', () => withoutAdobeMarker(jpeg!)],
    ['JPEG of inverted values', `/Filter /DCTDecode ${INVERTED}`, () => jpeg!],
    ['Flate', '/Filter /FlateDecode', () => deflateSync(samples)],
    ['Flate of inverted values', `/Filter /FlateDecode ${INVERTED}`, () => deflateSync(samples)],
  ])('keeps the colors of a CMYK image in %s', async (_what, entries, data) => {
    const source = join(await freshDirectory(), 'source.pdf');
    await writeFile(source, pagesWith(entries, data()));
    const work = await workOn({ path: source, format: 'pdf', operation: 'compress' });
    const { path } = await runHandler(pdfHandler, work);
    expect(await unpackedPdf(work.directory, path)).toMatch(/\/Width 450\b/);
    expect((await stat(path)).size).toBeLessThan(work.input.size / 2);
    for (const render of [renderWithPdfium, renderWithPoppler])
      expect(meanDifference(await render(path), await render(source))).toBeLessThan(3);
  });
});

function cmykSamples(): Buffer {
  const colors = photoLike({ width: WIDTH, height: HEIGHT });
  const samples = Buffer.alloc(WIDTH * HEIGHT * 4, 30);
  for (let pixel = 0; pixel < WIDTH * HEIGHT; pixel += 1) colors.copy(samples, pixel * 4, pixel * 3, pixel * 3 + 3);
  return samples;
}

function withoutAdobeMarker(jpeg: Buffer): Buffer {
  const at = jpeg.indexOf('Adobe') - 4;
  return Buffer.concat([jpeg.subarray(0, at), jpeg.subarray(at + 2 + jpeg.readUInt16BE(at + 2))]);
}

/** Returns a PDF whose second page shows the image at 400 pixels per inch. */
function pagesWith(entries: string, data: Buffer): Buffer {
  const writer = new PdfWriter();
  const pages = writer.reserve();
  const image = writer.addStream(
    `/Type /XObject /Subtype /Image /Width ${WIDTH} /Height ${HEIGHT} /ColorSpace /DeviceCMYK /BitsPerComponent 8 ${entries}`,
    data,
  );
  const content = writer.addStream('', Buffer.from('q 216 0 0 162 0 0 cm /I Do Q'));
  const kids = Array.from({ length: PAGES }, (_, at) => {
    const shown = at === 1 ? `/Contents ${content} 0 R /Resources << /XObject << /I ${image} 0 R >> >>` : '';
    return `${writer.add(`<< /Type /Page /Parent ${pages} 0 R /MediaBox [0 0 216 162] ${shown} >>`)} 0 R`;
  });
  writer.fill(pages, `<< /Type /Pages /Kids [${kids.join(' ')}] /Count ${PAGES} >>`);
  return writer.finish(writer.add(`<< /Type /Catalog /Pages ${pages} 0 R >>`));
}

async function renderWithPdfium(path: string): Promise<Buffer> {
  const options = { convert: { to: 'png', page: 2, dpi: 72 } } as const;
  const rendered = await runHandler(pdfHandler, await workOn({ path, format: 'pdf', operation: 'convert', options }));
  return sharp(rendered.path).removeAlpha().raw().toBuffer();
}

async function renderWithPoppler(path: string): Promise<Buffer> {
  const directory = await freshDirectory();
  await runTool(directory, 'pdftoppm', ['-singlefile', '-f', '2', '-r', '72', '-png', path, join(directory, 'page')]);
  return sharp(join(directory, 'page.png')).removeAlpha().raw().toBuffer();
}

function meanDifference(one: Buffer, other: Buffer): number {
  expect(one.length).toBe(other.length);
  return one.reduce((sum, value, at) => sum + Math.abs(value - other[at]!), 0) / one.length;
}
