import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import sharp from 'sharp';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Operation } from '#crds/catalogue/formats.ts';
import type { SentOptions } from '#crds/catalogue/options/options.ts';
import { engineDeps, freshDirectory, runHandler, workOn, type Fixture } from '#test/fixtures/engine-work.ts';
import { sharedFixtures } from '#test/fixtures/make-fixtures.ts';
import { photo } from '#test/fixtures/make-image-fixtures.ts';
import { PLANTED_IN_PDF, unpackedPdf } from '#test/fixtures/make-pdf-fixtures.ts';
import { pdf } from '#test/hostile/forge-pdf.ts';
import type { Produced, Work } from '#worker-image/engine/handler.ts';
import type { PdfWriter } from '#worker-image/engine/containers/pdf-writer.ts';
import { compareStructure } from '#worker-image/engine/pdf/compare-structure.ts';
import { pdfHandler } from '#worker-image/engine/pdf/pdf-handler.ts';

let fixtures: readonly Fixture[];

beforeAll(async () => {
  fixtures = await sharedFixtures('pdf');
});

function work(name: string, operation: Operation, options: SentOptions = {}): Promise<Work> {
  const fixture = fixtures.find((one) => one.name === name);
  if (fixture === undefined) throw new Error(`no fixture ${name}`);
  return workOn({ ...fixture, operation, options });
}

/** Renders a page of 612 × 792 points with the given entries. */
async function renderPage(page: string, convert: NonNullable<SentOptions['convert']>): Promise<Produced> {
  const path = join(await freshDirectory(), 'page.pdf');
  await writeFile(path, pdf({ page }));
  return runHandler(pdfHandler, await workOn({ path, format: 'pdf', operation: 'convert', options: { convert } }));
}

async function compressed(
  name: string,
  quality: 'tiny' | 'small' | 'medium' | 'large' | 'original',
): Promise<{ produced: Produced; size: number }> {
  const produced = await runHandler(pdfHandler, await work(name, 'compress', { pdf: { quality } }));
  return { produced, size: (await stat(produced.path)).size };
}

describe('inspect', () => {
  // Promise, Bad input, case by case: Pixels, frames, pages, durations
  it('counts the pages', async () => {
    expect(await pdfHandler.inspect(engineDeps(), await work('photos', 'compress'))).toMatchObject({
      pages: 3,
    });
  });

  // Promise, Bad input, case by case: Passwords
  // Promise, Direct endpoints: Unsupported_input, use_async_job, encrypted_pdf, processing_failed, limit_exceeded with value and limit
  it('refuses a file that needs a password', async () => {
    await expect(pdfHandler.inspect(engineDeps(), await work('user-password', 'compress'))).rejects.toMatchObject({
      code: 'encrypted_pdf',
    });
  });

  // Promise, Bad input, case by case: Passwords
  it.each([
    [
      'a damaged cross-reference table',
      (pdf: string) => pdf.replace('\ntrailer', ' trailer').replace(/startxref\n\d+/, 'startxref\n1'),
    ],
    ['certificates in place of a password', (pdf: string) => pdf.replace(/\/Filter *\/Standard/, '/Filter/Adobe.Pub')],
  ])('refuses an encrypted file with %s', async (_what, changed) => {
    const sample = new URL('../../../api/data/samples/encrypted.pdf', import.meta.url);
    const path = join(await freshDirectory(), 'changed.pdf');
    await writeFile(path, changed(await readFile(sample, 'latin1')), 'latin1');
    await expect(
      pdfHandler.inspect(engineDeps(), await workOn({ path, format: 'pdf', operation: 'compress' })),
    ).rejects.toMatchObject({ code: 'encrypted_pdf' });
  });

  // Promise, Settled where the interface leaves it open: A PDF with an owner password only is processed
  // Promise, Bad input, case by case: Passwords
  it('accepts a file with an owner password only', async () => {
    expect(await pdfHandler.inspect(engineDeps(), await work('owner-password', 'compress'))).toMatchObject({
      pages: 3,
    });
  });

  // Promise, Bad input, case by case: Damaged files
  it('refuses a file that only begins like a PDF', async () => {
    await expect(pdfHandler.inspect(engineDeps(), await work('damaged', 'compress'))).rejects.toMatchObject({
      code: 'processing_failed',
    });
  });
});

describe('compress', () => {
  // Promise, Direct endpoints: Compress options change the result: quality, format, channels, rates, metadata
  it('writes a smaller file for each lower tier', async () => {
    const sizes: number[] = [];
    for (const quality of ['tiny', 'small', 'medium', 'large', 'original'] as const)
      sizes.push((await compressed('photos', quality)).size);
    expect(sizes).toEqual(sizes.toSorted((a, b) => a - b));
    expect(sizes[2]).toBeLessThan((await work('photos', 'compress')).input.size / 4);
  });

  it('keeps outline, links, form, tags and text', async () => {
    const one = await work('photos', 'compress', { pdf: { quality: 'tiny' } });
    const produced = await runHandler(pdfHandler, one);
    expect(await compareStructure(engineDeps(), one, produced.path)).toEqual([]);
    const text = await unpackedPdf(one.directory, produced.path);
    for (const part of ['/Outlines', '/AcroForm', '/StructTreeRoot', 'https://example.com/'])
      expect(text).toContain(part);
  });

  it('keeps every byte of images with quality original', async () => {
    const { produced } = await compressed('photos', 'original');
    const before = await unpackedPdf(await freshDirectory(), (await work('photos', 'compress')).input.path);
    const after = await unpackedPdf(await freshDirectory(), produced.path);
    expect(jpegsOf(before)).toHaveLength(3);
    expect(jpegsOf(after)).toEqual(jpegsOf(before));
  });

  it('does not scale down a black-and-white scan', async () => {
    const { produced, size } = await compressed('scan', 'tiny');
    expect(await unpackedPdf(await freshDirectory(), produced.path)).toContain('/Width 1280');
    expect(size).toBeLessThan((await work('scan', 'compress')).input.size);
  });

  it('scales down a JPEG 2000 image of more than the needed resolution', async () => {
    const directory = await freshDirectory();
    const code =
      'import sys; from PIL import Image; Image.effect_mandelbrot((1200, 900), (-2, -1.2, 1, 1.2), 90).convert("RGB").save(sys.argv[1])';
    const args = ['-I', '-c', code, 'a.jp2'];
    await engineDeps().run({ file: 'python3', args, directory, signal: engineDeps().signal, timeoutSeconds: 60 });
    const data = await readFile(join(directory, 'a.jp2'));
    const path = join(directory, 'a.pdf');
    const content = { entries: '', data: Buffer.from('q 216 0 0 162 72 500 cm /I Do Q') };
    const more = (writer: PdfWriter) => {
      const entries =
        '/Type /XObject /Subtype /Image /Width 1200 /Height 900 /ColorSpace /DeviceRGB /Filter /JPXDecode';
      return { page: `/Resources << /XObject << /I ${writer.addStream(entries, data)} 0 R >> >>` };
    };
    await writeFile(
      path,
      Buffer.from(
        pdf({ content, more }).toString('latin1').replace('/Resources << /Font', '/Fonts << /Font'),
        'latin1',
      ),
    );
    const one = await workOn({ path, format: 'pdf', operation: 'compress', options: { pdf: { quality: 'small' } } });
    const produced = await runHandler(pdfHandler, one);
    expect((await stat(produced.path)).size).toBeLessThan(one.input.size / 3);
    expect(await unpackedPdf(directory, produced.path)).not.toContain('/JPXDecode');
  });

  it('warns that a signature becomes invalid', async () => {
    const { produced } = await compressed('signed', 'medium');
    expect(produced.warnings.join()).toContain('signed');
  });

  it('scales down images that every page references and one page draws', async () => {
    const { size } = await compressed('shared-resources', 'medium');
    expect(size).toBeLessThan((await work('shared-resources', 'compress')).input.size / 4);
  });

  it('compresses a file in which a form is the resource dictionary of another form', async () => {
    const form = '/Type /XObject /Subtype /Form /BBox [0 0 9 9]';
    const bytes = pdf({
      more: (writer) => {
        const other = writer.addStream(form, Buffer.alloc(0));
        const outer = writer.addStream(`${form} /Resources ${other} 0 R`, Buffer.from('0 0 9 9 re f'));
        return { page: `/Resources << /XObject << /X ${outer} 0 R >> >>` };
      },
    });
    const path = join(await freshDirectory(), 'odd.pdf');
    await writeFile(path, bytes);
    const produced = await runHandler(pdfHandler, await workOn({ path, format: 'pdf', operation: 'compress' }));
    expect(produced.facts.pages).toBe(1);
  });

  it('keeps two layers of the same name', async () => {
    const more = (writer: PdfWriter) => {
      const layers = [1, 2].map(() => `${writer.add('<< /Type /OCG /Name (Notes) >>')} 0 R`);
      const hidden = `/D << /Order [${layers.join(' ')}] /OFF [${layers[1]}] >>`;
      const image = writer.addStream(
        '/Type /XObject /Subtype /Image /Width 99 /Height 99 /ColorSpace /DeviceGray /BitsPerComponent 8',
        Buffer.from(Array.from({ length: 99 ** 2 }, (_, i) => i % 251)),
      );
      return {
        catalogue: `/OCProperties << /OCGs [${layers.join(' ')}] ${hidden} >>`,
        page: `/Properties << /A ${layers[0]} /B ${layers[1]} >> /Group << /S /Transparency /Image ${image} 0 R >>`,
      };
    };
    const path = join(await freshDirectory(), 'layers.pdf');
    await writeFile(path, pdf({ more }));
    const produced = await runHandler(pdfHandler, await workOn({ path, format: 'pdf', operation: 'compress' }));
    const text = await unpackedPdf(await freshDirectory(), produced.path);
    expect(text.match(/\/Type \/OCG\b/g)).toHaveLength(2);
  });

  // Promise, Settled where the interface leaves it open: A PDF with an owner password only is processed
  it('compresses a file with restrictions', async () => {
    const { produced, size } = await compressed('owner-password', 'medium');
    expect(size).toBeLessThan((await work('owner-password', 'compress')).input.size / 4);
    const reopened = await workOn({ path: produced.path, format: 'pdf', operation: 'compress' });
    expect(await pdfHandler.inspect(engineDeps(), reopened)).toMatchObject({ pages: 3 });
  });
});

describe('convert', () => {
  // Promise, Direct endpoints: Convert: target, its spellings and case, page, dpi; larger results are returned
  it.each([
    { name: 'photos', to: 'png', dpi: 144, width: 1224, height: 1584 },
    { name: 'photos', to: 'jpg', dpi: 36, width: 306, height: 396 },
    { name: 'rotated', to: 'png', dpi: 72, width: 200, height: 400 },
    { name: 'rotated', to: 'jpg', dpi: 144, width: 400, height: 800 },
  ] as const)(
    'renders $name as $to at $dpi dpi with $width × $height pixels',
    async ({ name, to, dpi, width, height }) => {
      const produced = await runHandler(pdfHandler, await work(name, 'convert', { convert: { to, dpi } }));
      expect(produced).toMatchObject({ format: to, facts: { width, height } });
      expect((await sharp(produced.path).metadata()).format).toBe(to === 'jpg' ? 'jpeg' : 'png');
    },
  );

  // Promise, Direct endpoints: Convert: target, its spellings and case, page, dpi; larger results are returned
  it('renders the requested page', async () => {
    const rendered = await Promise.all(
      [1, 2].map(
        async (page) =>
          (await runHandler(pdfHandler, await work('photos', 'convert', { convert: { to: 'png', page, dpi: 36 } })))
            .path,
      ),
    );
    const [first, second] = await Promise.all(rendered.map((path) => sharp(path).raw().toBuffer()));
    expect(first!.equals(second!)).toBe(false);
  });

  it.each([
    ['/UserUnit 2 /CropBox [0 0 100 50] /Rotate 450', 100, 200],
    ['/CropBox [-50 -50 9000 40]', 612, 40],
    ['/Rotate 45', 612, 792],
    ['/Rotate -133 /UserUnit -3', 612, 792],
    ['/CropBox [900 900 950 950] /Rotate 90', 792, 612],
  ])('renders a page with %s as %d × %d pixels', async (page, width, height) => {
    for (const to of ['png', 'jpg'] as const)
      expect((await renderPage(page, { to, dpi: 72 })).facts).toMatchObject({ width, height });
  });

  it('renders a page with a rotation that is no multiple of 90 degrees upright, as viewers do', async () => {
    const [odd, plain] = await Promise.all(
      ['/Rotate 45', ''].map(async (page) =>
        sharp((await renderPage(page, { to: 'png', dpi: 72 })).path)
          .raw()
          .toBuffer(),
      ),
    );
    expect(odd!.equals(plain!)).toBe(true);
  });

  it.each([
    ['cyan', '1 0 0 0 k'],
    ['magenta', '0 1 0 0 k'],
    ['yellow', '0 0 1 0 k'],
  ])('renders the ink %s in similar colors as PNG and JPEG', async (_name, ink) => {
    const path = join(await freshDirectory(), 'ink.pdf');
    await writeFile(path, pdf({ content: { entries: '', data: Buffer.from(`${ink} 0 0 612 792 re f`) } }));
    const [png, jpg] = await Promise.all(
      (['png', 'jpg'] as const).map(async (to) => {
        const conversion = {
          path,
          format: 'pdf',
          operation: 'convert',
          options: { convert: { to, dpi: 36 } },
        } as const;
        const { dominant } = await sharp((await runHandler(pdfHandler, await workOn(conversion))).path).stats();
        return Object.values(dominant);
      }),
    );
    png!.forEach((value, channel) => expect(Math.abs(value - jpg![channel]!)).toBeLessThan(40));
  });

  it('renders a page in its inherited size', async () => {
    const path = join(await freshDirectory(), 'page.pdf');
    const inherited = pdf()
      .toString('latin1')
      .replace('/MediaBox [0 0 612 792]', '')
      .replace('/Count 1', '/Count 1 /MediaBox [0 0 300 90] /Rotate 90');
    await writeFile(path, inherited, 'latin1');
    for (const to of ['png', 'jpg'] as const) {
      const work = await workOn({ path, format: 'pdf', operation: 'convert', options: { convert: { to, dpi: 72 } } });
      expect((await runHandler(pdfHandler, work)).facts).toMatchObject({ width: 90, height: 300 });
    }
  });

  it.each([
    ['UniGB-UCS2-H', 'GB1', 'STSong-Light', '4E2D6587'],
    ['90ms-RKSJ-H', 'Japan1', 'MS-Mincho', '93FA967B8CEA'],
    ['KSCms-UHC-H', 'Korea1', 'HYSMyeongJo-Medium', 'C7D1B1DB'],
  ])('draws text in %s with a font that is not embedded', async (encoding, ordering, name, text) => {
    const font = (writer: PdfWriter): number => {
      const descriptor = `<< /Type /FontDescriptor /FontName /${name} /Flags 6 /FontBBox [0 -200 1000 900] /Ascent 880 /Descent -120 /StemV 93 >>`;
      const system = `<< /Registry (Adobe) /Ordering (${ordering}) /Supplement 1 >>`;
      const glyphs = writer.add(
        `<< /Type /Font /Subtype /CIDFontType0 /BaseFont /${name} /CIDSystemInfo ${system} /FontDescriptor ${descriptor} >>`,
      );
      return writer.add(
        `<< /Type /Font /Subtype /Type0 /BaseFont /${name} /Encoding /${encoding} /DescendantFonts [${glyphs} 0 R] >>`,
      );
    };
    const path = join(await freshDirectory(), 'page.pdf');
    const content = { entries: '', data: Buffer.from(`BT /C 200 Tf 0 200 Td <${text}> Tj ET`) };
    const more = (writer: PdfWriter) => ({ page: `/Resources << /Font << /C ${font(writer)} 0 R >> >>` });
    const bytes = pdf({ content, more })
      .toString('latin1')
      .replace(/\/Resources << \/Font << \/F \d+ 0 R >> >>/, '');
    await writeFile(path, bytes, 'latin1');
    for (const to of ['png', 'jpg'] as const) {
      const work = await workOn({ path, format: 'pdf', operation: 'convert', options: { convert: { to, dpi: 72 } } });
      const { channels } = await sharp((await runHandler(pdfHandler, work)).path)
        .grayscale()
        .stats();
      expect(channels[0]?.mean).toBeLessThan(250);
    }
  });

  it('refuses a side that is too long for JPEG', async () => {
    await expect(renderPage('/UserUnit 108', { to: 'jpg' })).rejects.toMatchObject({
      code: 'limit_exceeded',
      message: expect.stringContaining('the maximum of jpg is 65500'),
    });
  });

  // Promise, Bad input, case by case: Targets, pages, dpi
  // Promise, Direct endpoints: Convert: target, its spellings and case, page, dpi; larger results are returned
  it('refuses a page beyond the end and names the option', async () => {
    const refused = runHandler(pdfHandler, await work('photos', 'convert', { convert: { to: 'png', page: 4 } }));
    await expect(refused).rejects.toMatchObject({ code: 'invalid_options', param: 'convert.page' });
  });

  // Promise, Bad input, case by case: Pixels, frames, pages, durations
  it('refuses more pixels than the limit before rendering', async () => {
    const one = await work('rotated', 'convert', { convert: { to: 'png', dpi: 144 } });
    const refused = runHandler(pdfHandler, { ...one, limits: { ...one.limits, maxPixels: 319_999 } });
    await expect(refused).rejects.toMatchObject({
      code: 'limit_exceeded',
      message: expect.stringContaining('400 × 800'),
    });
  });
});

describe('strip_metadata', () => {
  // Promise, Settled where the interface leaves it open: A PDF with an owner password only is processed
  // Promise, Direct endpoints: Strip-metadata: what is removed and what is kept, for images and PDFs
  it.each(['photos', 'owner-password'])('removes all planted metadata from %s and nothing else', async (name) => {
    const one = await work(name, 'strip_metadata');
    const produced = await runHandler(pdfHandler, one);
    const text = await unpackedPdf(one.directory, produced.path);
    for (const planted of [...PLANTED_IN_PDF, ...DATES_IN_PDF]) expect(text).not.toContain(planted);
    expect(text).not.toContain('/PieceInfo');
    expect(text).toContain('of the photo book');
  });

  it.each([
    ['by itself', '/DCTDecode', (jpeg: Buffer) => jpeg],
    ['packed again', '[/FlateDecode /DCTDecode]', (jpeg: Buffer) => deflateSync(jpeg)],
  ])('removes metadata inside a JPEG %s, and keeps its pixels', async (_how, filter, packed) => {
    const jpeg = await jpegWithMetadata();
    const entries = `/Type /XObject /Subtype /Image /Width 64 /Height 48 /ColorSpace /DeviceRGB /BitsPerComponent 8 /Filter ${filter}`;
    const path = join(await freshDirectory(), 'with-metadata.pdf');
    const more = (writer: PdfWriter) => ({
      page: `/Annots [] /Group << /S /Transparency /Image ${writer.addStream(entries, packed(jpeg))} 0 R >>`,
    });
    await writeFile(path, pdf({ more }));
    const produced = await runHandler(pdfHandler, await workOn({ path, format: 'pdf', operation: 'strip_metadata' }));
    const clean = await readFile(produced.path);
    expect(PLANTED_IN_JPEG.filter((words) => !jpeg.includes(words))).toEqual([]);
    expect(PLANTED_IN_JPEG.filter((words) => clean.includes(words))).toEqual([]);
    const left = clean.subarray(clean.indexOf(Buffer.from('ffd8ff', 'hex')));
    expect(await sharp(left).metadata()).toMatchObject({ hasProfile: true, isProgressive: true });
    const samples = (file: Buffer): Promise<Buffer> => sharp(file).raw().toBuffer();
    expect((await samples(left)).equals(await samples(jpeg))).toBe(true);
  });

  it('processes a file with a dangling outline reference', async () => {
    const path = join(await freshDirectory(), 'nowhere.pdf');
    await writeFile(path, pdf({ catalogue: '/Outlines << /Type /Outlines /First 99 0 R /Last 99 0 R /Count 0 >>' }));
    const one = await workOn({ path, format: 'pdf', operation: 'strip_metadata' });
    expect((await runHandler(pdfHandler, one)).format).toBe('pdf');
  });

  it('is tested with a file that contains the planted metadata', async () => {
    const text = await unpackedPdf(await freshDirectory(), (await work('photos', 'strip_metadata')).input.path);
    for (const planted of [...PLANTED_IN_PDF, ...DATES_IN_PDF]) expect(text).toContain(planted);
  });
});

describe('a file with a damaged cross-reference table', () => {
  // Promise, Bad input, case by case: Damaged files
  it.each([
    ['strip_metadata', {}],
    ['compress', { pdf: { quality: 'tiny' } }],
    ['convert', { convert: { to: 'png', page: 3, dpi: 36 } }],
  ] as const)('is processed completely by %s', async (operation, options) => {
    const directory = await freshDirectory();
    const [packed, path] = [join(directory, 'packed.pdf'), join(directory, 'damaged.pdf')];
    const { path: source } = (await work('photos', 'compress')).input;
    const args = ['--object-streams=generate', source, packed];
    await engineDeps().run({ file: 'qpdf', args, directory, signal: engineDeps().signal, timeoutSeconds: 60 });
    const bytes = await readFile(packed, 'latin1');
    await writeFile(path, bytes.replace(/startxref\n\d+/, 'startxref\n99'), 'latin1');
    const one = await workOn({ path, format: 'pdf', operation, options });
    const produced = await runHandler(pdfHandler, one);
    if (operation !== 'convert') expect(await unpackedPdf(directory, produced.path)).toContain('/StructTreeRoot');
  });
});

describe('a file whose tree of pages declares a wrong number of them', () => {
  it('is processed with the pages that it has', async () => {
    const path = join(await freshDirectory(), 'miscounted.pdf');
    await writeFile(path, pdf({}).toString('latin1').replace('/Count 1', '/Count 3'), 'latin1');
    const processed = (operation: Operation): Promise<Produced> =>
      workOn({ path, format: 'pdf', operation, options: { convert: { to: 'png' } } }).then((one) =>
        runHandler(pdfHandler, one),
      );
    expect(await processed('strip_metadata')).toMatchObject({ facts: { pages: 1 } });
    expect(await processed('compress')).toMatchObject({ facts: { pages: 1 } });
    expect(await processed('convert')).toMatchObject({ format: 'png' });
  });
});

describe('verify', () => {
  it('rejects a result without the outline of the input', async () => {
    const one = await work('photos', 'compress');
    const bytes = (await readFile(one.input.path, 'latin1')).replace(/\/Outlines(?= \d)/, '/Outlinez');
    const path = `${one.directory}/lost.pdf`;
    await writeFile(path, bytes, 'latin1');
    const facts = await pdfHandler.inspect(engineDeps(), one);
    await expect(
      pdfHandler.verify(engineDeps(), one, facts, { path, format: 'pdf', facts, warnings: [] }),
    ).rejects.toThrow(/outline/);
  });

  it('does not repeat the output of a tool that failed, which has paths of the service', async () => {
    const loop = [
      '%PDF-1.4\n2 0 obj<</Type/Catalog/Pages 3 0 R>>endobj',
      '3 0 obj<</Type/Pages/Kids[4 0 R 4 0 R]/Count 1000000000>>endobj',
      '4 0 obj<</Type/Pages/Kids[3 0 R]/Count 5/Parent 3 0 R>>endobj\ntrailer<</Root 2 0 R>>',
    ].join(' ');
    const path = join(await freshDirectory(), 'loop.pdf');
    await writeFile(path, loop);
    const one = await workOn({ path, format: 'pdf', operation: 'compress' });
    const facts = await pdfHandler.inspect(engineDeps(), one);
    const produced = await pdfHandler.compress?.(engineDeps(), one, facts);
    if (produced === undefined) throw new Error('nothing was produced');
    await expect(pdfHandler.verify(engineDeps(), one, facts, produced)).rejects.toThrow(
      /: the files cannot be compared$/,
    );
  });
});

const DATES_IN_PDF = ['/CreationDate', '/LastModified', 'D:20260101'];
const PLANTED_IN_JPEG = ['planted in the EXIF', 'planted in the XMP', 'planted in a comment'];

/** Returns a progressive JPEG of 64 × 48 pixels with a profile and planted metadata. */
async function jpegWithMetadata(): Promise<Buffer> {
  const [exif, xmp, comment = ''] = PLANTED_IN_JPEG;
  const jpeg = await photo(64, 48)
    .withIccProfile('p3')
    .withExif({ IFD0: { Artist: exif! } })
    .withXmp(`<x:xmpmeta xmlns:x="adobe:ns:meta/">${xmp}</x:xmpmeta>`)
    .jpeg({ progressive: true })
    .toBuffer();
  const segment = Buffer.concat([Buffer.from([0xff, 0xfe, 0, 2 + comment.length]), Buffer.from(comment)]);
  return Buffer.concat([jpeg.subarray(0, 2), segment, jpeg.subarray(2)]);
}

function jpegsOf(unpacked: string): string[] {
  return unpacked.match(/\xff\xd8\xff[\s\S]*?\nendstream/g) ?? [];
}
