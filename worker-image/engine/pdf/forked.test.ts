/** Steps of the PDF scripts that run in processes of their own, and what their comparison finds. */
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { freshDirectory, runHandler, workOn } from '#test/fixtures/engine-work.ts';
import { sharedFixtures } from '#test/fixtures/make-fixtures.ts';
import { photo } from '#test/fixtures/make-image-fixtures.ts';
import { unpackedPdf } from '#test/fixtures/make-pdf-fixtures.ts';
import { runTool } from '#test/fixtures/run-tool.ts';
import { PdfWriter } from '#worker-image/engine/containers/pdf-writer.ts';
import { pdfHandler } from '#worker-image/engine/pdf/pdf-handler.ts';

/** Runs Python code that can import the scripts' modules and returns its output. */
async function python(code: string): Promise<string> {
  const start = `import os, runpy, sys; sys.dont_write_bytecode = True; sys.path.insert(0, ${JSON.stringify(import.meta.dirname)})`;
  return (await runTool(await freshDirectory(), 'python3', ['-I', '-c', `${start}\n${code}`])).trim();
}

describe('forked', () => {
  it('returns the result of another process', async () => {
    const output = await python(
      `from forked import forked
wait = forked(lambda: [os.getpid(), None, ("text", 1.5, b"bytes", {"key": True})])
print(wait()[0] != os.getpid(), wait()[1:])`,
    );
    expect(output).toBe(`True [None, ('text', 1.5, b'bytes', {'key': True})]`);
  });

  it.each([
    ['dies', 'os.kill(os.getpid(), 9)'],
    ['raises an error', 'raise ValueError'],
    ['returns what cannot be sent', 'return object()'],
  ])('runs the function in its own process when the other one %s', async (_what, failure) => {
    const output = await python(
      `from forked import forked
parent = os.getpid()
sys.unraisablehook = sys.excepthook = lambda *_: None
def function():
    if os.getpid() != parent:
        ${failure}
    return "here"
print(forked(function)())`,
    );
    expect(output).toBe('here');
  });

  it('raises the error of a function that fails in both processes', async () => {
    const code = `from forked import forked
def fail():
    raise ValueError("of this file")
try:
    forked(fail)()
except ValueError as error:
    print(error)`;
    expect(await python(code)).toBe('of this file');
  });
});

describe('compress-pdf.py', () => {
  const damages = [
    ['an image is another one', 'rewrite_images.write = lambda image, _: image.write(bytes(3 * 4_000_000))'],
    [
      'a page is empty',
      'compact_objects.prune = lambda pdf: setattr(pdf.pages[0].obj, "Contents", pdf.make_stream(b""))',
    ],
    ['a page is missing', 'compact_objects.prune = lambda pdf: pdf.pages.remove(p=2)'],
    [
      'an annotation is missing',
      'compact_objects.prune = lambda pdf: [page.obj.__delitem__("/Annots") for page in pdf.pages if "/Annots" in page]',
    ],
  ] as const;

  it.each(damages)('writes no file when %s', async (_what, damage) => {
    expect(await writtenWith(damage)).toEqual({ exitCode: '1', isWritten: false });
  });

  it('writes a file without such a damage', async () => {
    expect(await writtenWith('')).toEqual({ exitCode: '', isWritten: true });
  });

  it('encodes large images: photos, one with a mask that has to be scaled with it, and one of a palette', async () => {
    const path = join(await freshDirectory(), 'large.pdf');
    await writeFile(path, await largeImages());
    const work = await workOn({ path, format: 'pdf', operation: 'compress' });
    const produced = await runHandler(pdfHandler, work);
    const text = await unpackedPdf(work.directory, produced.path);
    const widths = [...text.matchAll(/\/Width (\d+)/g)].map(([, width]) => Number(width)).toSorted((a, b) => a - b);
    expect(widths).toEqual([500, 500, 500, 500]);
    expect(text).not.toContain('/Indexed');
    expect((await readFile(produced.path)).length).toBeLessThan(work.input.size / 4);
  });
});

/** Compresses a file with a step of the script replaced. Returns the exit code that the comparison led to. */
async function writtenWith(damage: string): Promise<{ exitCode: string; isWritten: boolean }> {
  const fixture = (await sharedFixtures('pdf')).find(({ name }) => name === 'photos');
  const output = join(await freshDirectory(), 'output.pdf');
  const script = join(import.meta.dirname, 'compress-pdf.py');
  const exitCode = await python(
    `import compact_objects, rewrite_images
${damage}
sys.argv = ${JSON.stringify([script, fixture?.path, output, '150', '66', '100000000', 'generate'])}
try:
    runpy.run_path(sys.argv[0], run_name="__main__")
except SystemExit as end:
    print(end.code)`,
  );
  return { exitCode, isWritten: existsSync(output) };
}

/** Returns a page of 4 × 3 inches with three images of 1200 × 900 pixels. */
async function largeImages(): Promise<Buffer> {
  const [width, height] = [1200, 900];
  const writer = new PdfWriter();
  const image = (entries: string, data: Buffer): number =>
    writer.addStream(
      `/Type /XObject /Subtype /Image /Width ${width} /Height ${height} /BitsPerComponent 8 ${entries}`,
      data,
    );
  const jpeg = await photo(width, height).jpeg({ quality: 95 }).toBuffer();
  const gray = await sharp(jpeg).grayscale().raw().toBuffer();
  const flate = (samples: Buffer): Buffer => deflateSync(samples, { level: 1 });
  const mask = image('/ColorSpace /DeviceGray /Filter /FlateDecode', flate(gray));
  const palette = Buffer.from(Array.from({ length: 768 }, (_, at) => (at * 7) % 256)).toString('hex');
  const drawn = [
    image('/ColorSpace /DeviceRGB /Filter /DCTDecode', jpeg),
    image(`/ColorSpace /DeviceRGB /Filter /DCTDecode /SMask ${mask} 0 R`, jpeg),
    image(`/ColorSpace [/Indexed /DeviceRGB 255 <${palette}>] /Filter /FlateDecode`, flate(gray)),
  ];
  const content = drawn.map((_, at) => `q 240 0 0 180 ${at * 20} ${at * 200} cm /I${at} Do Q`).join('\n');
  const stream = writer.addStream('', Buffer.from(content));
  const pages = writer.reserve();
  const objects = drawn.map((number, at) => `/I${at} ${number} 0 R`).join(' ');
  const page = writer.add(
    `<< /Type /Page /Parent ${pages} 0 R /MediaBox [0 0 300 600] /Contents ${stream} 0 R /Resources << /XObject << ${objects} >> >> >>`,
  );
  writer.fill(pages, `<< /Type /Pages /Kids [${page} 0 R] /Count 1 >>`);
  return writer.finish(writer.add(`<< /Type /Catalog /Pages ${pages} 0 R >>`));
}
