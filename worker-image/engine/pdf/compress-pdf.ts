/** Compresses a PDF (docs/reference/options.md#pdf). */
import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { ResolvedOptions } from '#crds/catalogue/options/options.ts';
import { type EngineDeps, type Produced, type Work } from '#worker-image/engine/handler.ts';
import type { PdfFacts } from '#worker-image/engine/pdf/inspect-pdf.ts';
import { compareStructure } from '#worker-image/engine/pdf/compare-structure.ts';
import {
  damagedPdf,
  isQpdfSuccess,
  runPdfScript,
  runQpdf,
  type PdfDeps,
} from '#worker-image/engine/pdf/run-pdf-tool.ts';
import { isSigned } from '#worker-image/engine/pdf/is-signed.ts';
import { readablePdf } from '#worker-image/engine/pdf/repair-pdf.ts';
import type { ToolResult } from '#worker-image/tools/run-command.ts';

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

const PACK = ['--object-streams=generate', '--recompress-flate', '--compression-level=9'];
/** Removes resources that a page does not draw: some writers share one list of images among all pages. */
const PRUNE = ['--remove-unreferenced-resources=yes', '--pages', '.', '1-z', '--'];
const SIGNED_WARNING = 'The PDF is signed: the compressed file looks the same, but its signature is no longer valid.';

/**
 * Compresses the file losslessly, and again with images rewritten for the tier and fonts subset. Returns the smallest
 * candidate that `compareStructure` finds equal to the input.
 * @throws MediaError processing_failed when no tool can read the file.
 */
export async function compressPdf(deps: EngineDeps, work: Work, facts: PdfFacts): Promise<Produced> {
  const tier = TIERS[work.options.pdf.quality];
  const lossless = await pack(deps, work, { input: await readablePdf(work), name: 'lossless.pdf' });
  deps.onProgress(20);
  const rewritten = tier === null ? [] : await rewrite(deps, work, { lossless, tier });
  deps.onProgress(80);
  const candidates = await smallestFirst([lossless, ...rewritten]);
  const warnings = (await isSigned(deps, work)) ? [SIGNED_WARNING] : [];
  for (const path of candidates) {
    const lost = await compareStructure(deps, work, path);
    if (lost.length === 0) return { path, format: 'pdf', facts, warnings };
  }
  return { path: lossless, format: 'pdf', facts, warnings };
}

interface Packing {
  readonly input: string;
  readonly name: string;
  readonly more?: readonly string[];
}

async function pack(deps: PdfDeps, work: Work, packing: Packing): Promise<string> {
  const { path, result } = await runPacking(deps, work, packing);
  if (!isQpdfSuccess(result)) throw damagedPdf(result);
  return path;
}

/** Returns no path when qpdf reads the file but cannot rewrite it, for example if resources are no dictionary. */
async function packIfPossible(deps: PdfDeps, work: Work, packing: Packing): Promise<string[]> {
  const { path, result } = await runPacking(deps, work, packing);
  return isQpdfSuccess(result) ? [path] : [];
}

async function runPacking(
  deps: PdfDeps,
  work: Work,
  { input, name, more = [] }: Packing,
): Promise<{ path: string; result: ToolResult }> {
  const path = join(work.directory, name);
  const result = await runQpdf(deps, work, [...PACK, input, ...more, path]);
  if (isQpdfSuccess(result) && !existsSync(path)) throw damagedPdf(result);
  return { path, result };
}

/** Returns further candidates; none when rewriting fails. */
async function rewrite(
  deps: EngineDeps,
  work: Work,
  { lossless, tier }: { lossless: string; tier: Tier },
): Promise<string[]> {
  const images = join(work.directory, 'images.pdf');
  const args = [lossless, images, String(tier.dpi), String(tier.quality), String(work.limits.maxPixels)];
  const { exitCode } = await runPdfScript(deps, work, { name: 'rewrite-images', args });
  if (exitCode !== 0) return [];
  deps.onProgress(50);
  const subset = join(work.directory, 'subset.pdf');
  const fonts = await runPdfScript(deps, work, { name: 'subset-fonts', args: [images, subset] });
  return [
    ...(await packIfPossible(deps, work, { input: images, name: 'rewritten.pdf' })),
    ...(await packIfPossible(deps, work, {
      input: fonts.exitCode === 0 ? subset : images,
      name: 'pruned.pdf',
      more: PRUNE,
    })),
  ];
}

async function smallestFirst(paths: readonly string[]): Promise<string[]> {
  const sized = await Promise.all(paths.map(async (path) => ({ path, size: (await stat(path)).size })));
  return sized.toSorted((one, other) => one.size - other.size).map(({ path }) => path);
}
