import { stat } from 'node:fs/promises';
import type { EngineDeps, Facts, Produced, Work } from '#worker-image/engine/handler.ts';
import { loadSharp } from '#worker-image/engine/image/load-sharp.ts';
import { readImageFacts } from '#worker-image/engine/image/read-image-facts.ts';
import { compareStructure } from '#worker-image/engine/pdf/compare-structure.ts';
import { pixelSize } from '#worker-image/engine/pdf/convert-pdf.ts';
import { countPages } from '#worker-image/engine/pdf/inspect-pdf.ts';
import { readPageSize } from '#worker-image/engine/pdf/page-size.ts';

type VerifyDeps = Pick<EngineDeps, 'run' | 'signal'>;

/** Tools round a page's edges outwards. */
const SIDE_TOLERANCE = 2;

/**
 * A PDF has as many pages as before and lost nothing of its structure; a rendered page has the page's size
 * and decodes to its end.
 * @throws Error that says what differs.
 */
export async function verifyPdf(deps: VerifyDeps, work: Work, input: Facts, produced: Produced): Promise<void> {
  if ((await stat(produced.path)).size === 0) throw new Error('The output file is empty.');
  if (produced.format !== 'pdf') return verifyPicture(deps, work, produced);
  const pages = await countPages(deps, work, produced.path);
  if (pages !== input.pages) throw new Error(`The output has ${pages} pages instead of ${input.pages}.`);
  const lost = await compareStructure(deps, work, produced.path);
  if (lost.length > 0) throw new Error(`The output lost something: ${lost.join('; ')}`);
}

async function verifyPicture(deps: VerifyDeps, work: Work, { path, format }: Produced): Promise<void> {
  const { page, dpi } = work.options.convert;
  const wanted = pixelSize(await readPageSize(deps, work, page), dpi);
  const { width, height } = await readImageFacts(deps, { path, format, directory: work.directory });
  const differs = (one: number | null, other: number): boolean =>
    one === null || Math.abs(one - other) > SIDE_TOLERANCE;
  if (differs(width, wanted.width) || differs(height, wanted.height)) {
    throw new Error(`The picture is ${width} × ${height} pixels instead of ${wanted.width} × ${wanted.height}.`);
  }
  const sharp = await loadSharp();
  await sharp(path, { limitInputPixels: false, failOn: 'error' }).stats();
}
