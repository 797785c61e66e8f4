import { stat } from 'node:fs/promises';
import type { EngineDeps, Produced, Work } from '#worker-image/engine/handler.ts';
import { comparedPath, compareStructure } from '#worker-image/engine/pdf/compare-structure.ts';
import { pixelSize } from '#worker-image/engine/pdf/convert-pdf.ts';
import { countPages, type PdfFacts } from '#worker-image/engine/pdf/inspect-pdf.ts';
import { readPageSize } from '#worker-image/engine/pdf/page-size.ts';

type VerifyDeps = Pick<EngineDeps, 'run' | 'signal' | 'prepared'>;

/** Maximum difference of a side, in pixels: tools round page edges outwards. */
const SIDE_TOLERANCE = 2;

/**
 * Verifies that a PDF kept its pages and structure, or that a rendered page has the expected size and decodes
 * completely.
 * @throws Error that says what differs.
 */
export async function verifyPdf(deps: VerifyDeps, work: Work, input: PdfFacts, produced: Produced): Promise<void> {
  if ((await stat(produced.path)).size === 0) throw new Error('The output file is empty.');
  if (produced.format !== 'pdf') return verifyImage(deps, work, produced);
  if (produced.path === comparedPath(work)) return;
  const pages = await countPages(deps, work, produced.path);
  if (pages !== input.pages) throw new Error(`The output has ${pages} pages instead of ${input.pages}.`);
  const lost = await compareStructure(deps, work, produced.path);
  if (lost.length > 0) throw new Error(`The output lacks content of the input: ${lost.join('; ')}`);
}

async function verifyImage(deps: VerifyDeps, work: Work, { path, format }: Produced): Promise<void> {
  const { page, dpi } = work.options.convert;
  const wanted = pixelSize(await readPageSize(deps, work, page), dpi);
  const { directory, limits } = work;
  const { openPicture } = await import('#worker-image/engine/image/loaders/open-picture.ts');
  const picture = await openPicture(deps, { path, format, directory, maxPixels: limits.maxPixels });
  const { width, height } = picture.size;
  const differs = (one: number, other: number): boolean => Math.abs(one - other) > SIDE_TOLERANCE;
  if (differs(width, wanted.width) || differs(height, wanted.height)) {
    throw new Error(`The image is ${width} × ${height} pixels instead of ${wanted.width} × ${wanted.height}.`);
  }
  await picture.verify(deps);
}
