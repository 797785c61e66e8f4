/** Images whose data has two filters, or filters of old writers. */
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
const COLORS = '/ColorSpace /DeviceRGB /BitsPerComponent 8';

let samples: Buffer;
let jpeg: Buffer;
let smallJpeg: Buffer;

beforeAll(async () => {
  samples = photoLike({ width: WIDTH, height: HEIGHT });
  const image = sharp(samples, { raw: { width: WIDTH, height: HEIGHT, channels: 3 } });
  jpeg = await image.clone().jpeg({ quality: 95 }).toBuffer();
  smallJpeg = await image.clone().resize(300, 225).jpeg({ quality: 30 }).toBuffer();
});

describe('compress', () => {
  it.each<readonly [string, string, () => Buffer]>([
    ['a JPEG in ASCII85', '/Filter [/ASCII85Decode /DCTDecode]', () => ascii85(jpeg)],
    ['a JPEG in Flate', '/Filter [/FlateDecode /DCTDecode] /DecodeParms [null null]', () => deflateSync(jpeg)],
    ['Flate in ASCII85', '/Filter [/ASCII85Decode /FlateDecode]', () => ascii85(deflateSync(samples))],
    ['Flate in digits', '/Filter [/ASCIIHexDecode /FlateDecode]', () => digits(deflateSync(samples))],
    ['LZW', '/Filter /LZWDecode', () => lzw(samples)],
    ['LZW in ASCII85', '/Filter [/ASCII85Decode /LZWDecode]', () => ascii85(lzw(samples))],
    [
      'LZW of differences',
      '/Filter /LZWDecode /DecodeParms << /Predictor 2 /Colors 3 /Columns 1200 >>',
      () => lzw(differences(samples)),
    ],
    ['runs', '/Filter [/RunLengthDecode]', () => runs(samples)],
    ['no filter', '', () => samples],
  ])('scales an image of %s down', async (_what, entries, data) => {
    const { source, path } = await compressed(`/Width ${WIDTH} /Height ${HEIGHT} ${COLORS} ${entries}`, data());
    const text = await unpackedPdf(await freshDirectory(), path);
    expect(text).toMatch(/\/Width 450\b/);
    expect(text).toMatch(/\/Filter \/DCTDecode\b/);
    expect((await stat(path)).size).toBeLessThan(jpeg.length / 4);
    expect(meanDifference(await rendered(path), await rendered(source))).toBeLessThan(3);
  });

  it('keeps the data of a JPEG that would hardly become smaller, without its ASCII85', async () => {
    const entries = `/Width 300 /Height 225 ${COLORS} /Filter [/ASCII85Decode /DCTDecode]`;
    const { path } = await compressed(entries, ascii85(smallJpeg));
    const bytes = await readFile(path);
    expect(bytes.includes(smallJpeg)).toBe(true);
    expect(bytes.includes('ASCII85')).toBe(false);
  });

  it.each<readonly [string, string, (data: Buffer) => Buffer]>([
    ['Flate in a list', '/Filter [/FlateDecode]', (data) => deflateSync(data, { level: 0 })],
    ['LZW', '/Filter /LZWDecode', lzw],
    ['no filter', '', (data) => data],
  ])('encodes black and white of %s as fax', async (_what, entries, encode) => {
    const row = Buffer.concat([Buffer.alloc(WIDTH / 16, 0xff), Buffer.alloc(WIDTH / 16, 0x0f)]).subarray(0, WIDTH / 8);
    const data = Buffer.concat(
      Array.from({ length: HEIGHT }, (_, at) => (at % 90 < 45 ? row : Buffer.alloc(row.length))),
    );
    const image = `/Width ${WIDTH} /Height ${HEIGHT} /ColorSpace /DeviceGray /BitsPerComponent 1 ${entries}`;
    const { source, path } = await compressed(image, encode(data));
    expect(await unpackedPdf(await freshDirectory(), path)).toContain('/CCITTFaxDecode');
    expect(meanDifference(await rendered(path), await rendered(source))).toBe(0);
  });

  it('leaves data that decodes to many times its size in both filters', async () => {
    const bomb = deflateSync(Buffer.alloc(400_000));
    const pixels = Buffer.from('endless');
    const code = `
import os, sys
sys.path.insert(0, ${JSON.stringify(import.meta.dirname)})
sys.dont_write_bytecode = True
import pikepdf
from outer_filters import remove_outer_filters
with pikepdf.open("source.pdf") as pdf:
    images = [item for item in pdf.objects if isinstance(item, pikepdf.Stream) and "/Width" in item]
    remove_outer_filters(pdf, images)
    print(len(images[0].Filter), len(images[0].read_raw_bytes()))`;
    for (const filters of ['/FlateDecode /DCTDecode', '/FlateDecode /FlateDecode', '/LZWDecode /DCTDecode']) {
      const directory = await freshDirectory();
      const data = filters.startsWith('/LZW') ? lzw(pixels) : bomb;
      const entries = `/Width 600 /Height 600 ${COLORS} /Filter [${filters}]`;
      await writeFile(join(directory, 'source.pdf'), pageWith(entries, data));
      expect((await runTool(directory, 'python3', ['-I', '-c', code])).trim()).toBe(`2 ${data.length}`);
    }
  });
});

describe('strip_metadata', () => {
  it('removes the metadata of a JPEG in LZW', async () => {
    const marked = await sharp(smallJpeg)
      .withExif({ IFD0: { Artist: 'Planted Artist' } })
      .toBuffer();
    const path = join(await freshDirectory(), 'source.pdf');
    const entries = `/Width 300 /Height 225 ${COLORS} /Filter [/LZWDecode /DCTDecode]`;
    await writeFile(path, pageWith(entries, lzw(marked)));
    const produced = await runHandler(pdfHandler, await workOn({ path, format: 'pdf', operation: 'strip_metadata' }));
    const bytes = await readFile(produced.path);
    expect(bytes.includes('/DCTDecode')).toBe(true);
    expect(bytes.includes('LZWDecode')).toBe(false);
    expect(bytes.includes('Planted Artist')).toBe(false);
  });
});

async function compressed(entries: string, data: Buffer): Promise<{ source: string; path: string }> {
  const source = join(await freshDirectory(), 'source.pdf');
  await writeFile(source, pageWith(entries, data));
  const { path } = await runHandler(pdfHandler, await workOn({ path: source, format: 'pdf', operation: 'compress' }));
  return { source, path };
}

/** Returns a PDF whose page shows the image at 400 pixels per inch. */
function pageWith(entries: string, data: Buffer): Buffer {
  const writer = new PdfWriter();
  const pages = writer.reserve();
  const image = writer.addStream(`/Type /XObject /Subtype /Image ${entries}`, data);
  const content = writer.addStream('', Buffer.from('q 216 0 0 162 0 0 cm /I Do Q'));
  const resources = `/Contents ${content} 0 R /Resources << /XObject << /I ${image} 0 R >> >>`;
  const page = writer.add(`<< /Type /Page /Parent ${pages} 0 R /MediaBox [0 0 216 162] ${resources} >>`);
  writer.fill(pages, `<< /Type /Pages /Kids [${page} 0 R] /Count 1 >>`);
  return writer.finish(writer.add(`<< /Type /Catalog /Pages ${pages} 0 R >>`));
}

async function rendered(path: string): Promise<Buffer> {
  const directory = await freshDirectory();
  await runTool(directory, 'pdftoppm', ['-singlefile', '-r', '72', '-png', path, join(directory, 'page')]);
  return sharp(join(directory, 'page.png')).removeAlpha().raw().toBuffer();
}

function meanDifference(one: Buffer, other: Buffer): number {
  expect(one.length).toBe(other.length);
  return one.reduce((sum, value, at) => sum + Math.abs(value - other[at]!), 0) / one.length;
}

function ascii85(data: Buffer): Buffer {
  let text = '';
  for (let at = 0; at < data.length; at += 4) {
    const group = Buffer.alloc(4);
    const length = data.copy(group, 0, at, at + 4);
    let value = group.readUInt32BE(0);
    let encoded = '';
    for (let index = 0; index < 5; index += 1) {
      encoded = String.fromCharCode(33 + (value % 85)) + encoded;
      value = Math.floor(value / 85);
    }
    text += length === 4 && encoded === '!!!!!' ? 'z' : encoded.slice(0, length + 1);
  }
  return Buffer.from(`${text}~>`, 'latin1');
}

function digits(data: Buffer): Buffer {
  return Buffer.from(`${data.toString('hex')}>`);
}

/** Returns the data as literals of LZW: the table is cleared before its codes need more than nine bits. */
function lzw(data: Buffer): Buffer {
  const [clear, end, literals] = [256, 257, 250];
  const codes = [...data].flatMap((byte, at) => (at % literals === 0 ? [clear, byte] : [byte]));
  const bytes = Buffer.alloc(Math.ceil(((codes.length + 1) * 9) / 8));
  [...codes, end].forEach((code, index) => {
    const bit = index * 9;
    const at = Math.floor(bit / 8);
    const shifted = code << (7 - (bit % 8));
    bytes[at] = bytes[at]! | (shifted >> 8);
    bytes[at + 1] = shifted & 0xff;
  });
  return bytes;
}

/** Returns each sample as the difference from the one of the pixel before it in the row. */
function differences(data: Buffer): Buffer {
  return Buffer.from(data.map((value, at) => (at % (WIDTH * 3) < 3 ? value : value - data[at - 3]!)));
}

/** Returns the data as literal runs. */
function runs(data: Buffer): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0; at < data.length; at += 128) {
    const piece = data.subarray(at, at + 128);
    parts.push(Buffer.from([piece.length - 1]), piece);
  }
  return Buffer.concat([...parts, Buffer.from([128])]);
}
