import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { engineDeps, freshDirectory, workOn } from '#test/fixtures/engine-work.ts';
import { PdfWriter } from '#worker-image/engine/containers/pdf-writer.ts';
import { readPageSize } from '#worker-image/engine/pdf/page-size.ts';
import type { Work } from '#worker-image/engine/handler.ts';

interface PrintedPage {
  readonly rotation?: string;
  readonly media?: string;
  readonly crop?: string;
  readonly unit?: string;
}

/** Reads the size with tools that print this page. */
async function sizeOf({ rotation = '0', media = '0.00 0.00 200.00 100.00', crop = media, unit }: PrintedPage) {
  const printed: Readonly<Record<string, string>> = {
    pdfinfo: `Page    2 size: 1 x 1 pts\nPage    2 rot:  ${rotation}\nPage    2 MediaBox:  ${media}\nPage    2 CropBox:   ${crop}\n`,
    '--show-object=7,0': `<< /MediaBox [ 0 0 9 9 ] /PieceInfo << /A << >> /UserUnit 9 >>${unit === undefined ? '' : ` /UserUnit ${unit}`} /VP [ << >> ] >>\n`,
    '--show-object=8,0': '4\n',
  };
  const deps = engineDeps({
    run: ({ file, args, onLine }) => {
      if (args[0] === '--show-pages')
        ['page 1: 3 0 R', '  content:', 'page 2: 7 0 R'].forEach((line) => onLine?.(line));
      if (file === 'pdfinfo') printed[file]?.split('\n').forEach((line) => onLine?.(line));
      return Promise.resolve({ exitCode: 0, stdout: printed[file] ?? printed[args[0] ?? ''] ?? '', stderr: '' });
    },
  });
  return readPageSize(deps, { directory: await freshDirectory(), input: { path: 'none' } } as Work, 2);
}

describe('readPageSize', () => {
  it.each<readonly [string, PrintedPage, { width: number; height: number; unit: number }]>([
    ['the media box', {}, { width: 200, height: 100, unit: 1 }],
    ['the crop box', { crop: '10.50 20.00 110.50 70.00' }, { width: 100, height: 50, unit: 1 }],
    ['a box with negative coordinates', { crop: '-10.00 -20.00 0.00 0.00' }, { width: 10, height: 20, unit: 1 }],
    ['a page rotated by 90 degrees', { rotation: '90' }, { width: 100, height: 200, unit: 1 }],
    ['a page rotated by 180 degrees', { rotation: '180' }, { width: 200, height: 100, unit: 1 }],
    ['a page rotated by 270 degrees', { rotation: '270' }, { width: 100, height: 200, unit: 1 }],
    ['a larger unit', { unit: '2.5' }, { width: 500, height: 250, unit: 2.5 }],
    ['a unit in another object', { unit: '8 0 R' }, { width: 800, height: 400, unit: 4 }],
  ])('applies %s', async (_what, page, size) => {
    expect(await sizeOf(page)).toEqual({ ...size, invalid: [] });
  });

  it.each<readonly [string, PrintedPage, string]>([
    ['rotation', { rotation: '45' }, 'Rotate'],
    ['crop box without area', { crop: '10.00 10.00 10.00 90.00' }, 'CropBox'],
    ['negative unit', { unit: '-3' }, 'UserUnit'],
    ['unit that is no number', { unit: 'x' }, 'UserUnit'],
  ])('reports an invalid %s and ignores it', async (_what, page, entry) => {
    expect(await sizeOf(page)).toEqual({ width: 200, height: 100, unit: 1, invalid: [entry] });
  });

  it('ignores a title that repeats the lines of a page, however long it is', async () => {
    const forged =
      'Page    1 rot:  90\nPage    1 MediaBox: 0.00 0.00 1.00 1.00\nPage    1 CropBox: 0.00 0.00 1.00 1.00\n';
    for (const title of [forged, forged.repeat(1000)]) {
      const writer = new PdfWriter();
      const pages = writer.reserve();
      const page = writer.add(`<< /Type /Page /Parent ${pages} 0 R /MediaBox [0 0 300 200] >>`);
      writer.fill(pages, `<< /Type /Pages /Kids [${page} 0 R] /Count 1 >>`);
      const root = writer.add(`<< /Type /Catalog /Pages ${pages} 0 R >>`);
      const path = join(await freshDirectory(), 'title.pdf');
      await writeFile(path, writer.finish(root, writer.add(`<< /Title (${title}) >>`)));
      const work = await workOn({ path, format: 'pdf', operation: 'convert' });
      expect(await readPageSize(engineDeps(), work, 1)).toEqual({ width: 300, height: 200, unit: 1, invalid: [] });
    }
  });

  it.each(['0.00 0.00 0.00 100.00', 'nan 0.00 1.00 1.00', ''])(
    'refuses a page with the media box %j',
    async (media) => {
      await expect(sizeOf({ media })).rejects.toMatchObject({ code: 'processing_failed' });
    },
  );
});
