/** Compresses a PDF (docs/reference/options.md#pdf). */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { ResolvedOptions } from '#crds/catalogue/options/options.ts';
import type { EngineDeps, Produced, Work } from '#worker-image/engine/handler.ts';
import type { PdfFacts } from '#worker-image/engine/pdf/inspect-pdf.ts';
import { comparedPath } from '#worker-image/engine/pdf/compare-structure.ts';
import {
  damagedPdf,
  isQpdfSuccess,
  runPdfScript,
  runQpdf,
  type PdfDeps,
} from '#worker-image/engine/pdf/run-pdf-tool.ts';
import { readPdfMarks } from '#worker-image/engine/pdf/pdf-marks.ts';
import { readablePdf } from '#worker-image/engine/pdf/repair-pdf.ts';

interface Tier {
  readonly dpi: number;
  /** JPEG quality, 1 to 100. */
  readonly quality: number;
}

/** Image settings of each quality; null leaves images unchanged. Medium is no larger than Ghostscript's /ebook in the median of real files. */
const TIERS: Readonly<Record<ResolvedOptions['pdf']['quality'], Tier | null>> = {
  tiny: { dpi: 72, quality: 50 },
  small: { dpi: 110, quality: 60 },
  medium: { dpi: 150, quality: 66 },
  large: { dpi: 220, quality: 80 },
  original: null,
};

const PACK = ['--recompress-flate', '--compression-level=9'];
const SIGNED_WARNING = 'The PDF is signed: the compressed file looks the same, but its signature is no longer valid.';

/**
 * Compresses the file with images rewritten for the tier and fonts subset, if that compares equal to the input;
 * otherwise losslessly.
 * @throws MediaError processing_failed when no tool can read the file.
 */
export async function compressPdf(deps: EngineDeps, work: Work, facts: PdfFacts): Promise<Produced> {
  const { isSigned, isPdfA1 } = await readPdfMarks(deps, work);
  const path = await compress(deps, work, isPdfA1 ? 'disable' : 'generate');
  return { path, format: 'pdf', facts, warnings: isSigned ? [SIGNED_WARNING] : [] };
}

/** How objects are stored: packed into streams, or each for itself. By the names of qpdf. */
type ObjectStreams = 'generate' | 'disable';

async function compress(deps: EngineDeps, work: Work, objectStreams: ObjectStreams): Promise<string> {
  const tier = TIERS[work.options.pdf.quality];
  const rewritten = tier === null ? null : await rewrite(deps, work, { ...tier, objectStreams });
  deps.onProgress(80);
  return rewritten ?? pack(deps, work, objectStreams);
}

/** Returns the path of a file that compared equal to the input; null when there is none. */
async function rewrite(
  deps: PdfDeps,
  work: Work,
  { dpi, quality, objectStreams }: Tier & { readonly objectStreams: ObjectStreams },
): Promise<string | null> {
  const path = comparedPath(work);
  const numbers = [dpi, quality, work.limits.maxPixels].map(String);
  await runPdfScript(deps, work, {
    name: 'compress-pdf',
    args: [await readablePdf(work), path, ...numbers, objectStreams],
  });
  return existsSync(path) ? path : null;
}

async function pack(deps: PdfDeps, work: Work, objectStreams: ObjectStreams): Promise<string> {
  const path = join(work.directory, 'lossless.pdf');
  const result = await runQpdf(deps, work, [
    `--object-streams=${objectStreams}`,
    ...PACK,
    await readablePdf(work),
    path,
  ]);
  if (!isQpdfSuccess(result) || !existsSync(path)) throw damagedPdf(result);
  return path;
}
