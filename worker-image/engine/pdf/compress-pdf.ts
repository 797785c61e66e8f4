/** Makes a PDF smaller. Spec: pdf.quality. */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { ResolvedOptions } from '#crds/options/options.ts';
import { type EngineDeps, type Facts, type Produced, type Work } from '#worker-image/engine/handler.ts';
import { compareStructure } from '#worker-image/engine/pdf/compare-structure.ts';
import {
  damagedPdf,
  isQpdfSuccess,
  runPdfScript,
  runQpdf,
  type PdfDeps,
} from '#worker-image/engine/pdf/run-pdf-tool.ts';
import { isSigned } from '#worker-image/engine/pdf/is-signed.ts';
import { wholePdf } from '#worker-image/engine/pdf/whole-pdf.ts';
import type { CommandResult } from '#worker-image/tools/run-command.ts';

interface Tier {
  readonly dpi: number;
  /** Of JPEG images. */
  readonly quality: number;
}

/** null: no image is changed. Medium is no larger than what Ghostscript's /ebook makes, in the median of real files. */
const TIERS: Readonly<Record<ResolvedOptions['pdf']['quality'], Tier | null>> = {
  tiny: { dpi: 72, quality: 50 },
  small: { dpi: 110, quality: 60 },
  medium: { dpi: 150, quality: 66 },
  large: { dpi: 220, quality: 80 },
  original: null,
};

const PACK = ['--object-streams=generate', '--recompress-flate', '--compression-level=9'];
/** Each page keeps what it draws only: writers that give all pages one list of images would keep the old ones alive. */
const PRUNE = ['--remove-unreferenced-resources=yes', '--pages', '.', '1-z', '--'];
const SIGNED_WARNING = 'The PDF is signed: the compressed file shows the same, but its signature is no longer valid.';

/**
 * Packs the file without loss, and once more with its images rewritten for the tier and its fonts cut down to what
 * is shown; takes the smallest that lost nothing (pages, outline, links, forms, tags, text, look).
 * @throws MediaError processing_failed when no tool can read the file.
 */
export async function compressPdf(deps: EngineDeps, work: Work, facts: Facts): Promise<Produced> {
  const tier = TIERS[work.options.pdf.quality];
  const lossless = await pack(deps, work, { input: await wholePdf(work), name: 'lossless.pdf' });
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

/** Nothing for a file that qpdf reads and does not rewrite so: one of resources that are no dictionary, for example. */
async function packIfPossible(deps: PdfDeps, work: Work, packing: Packing): Promise<string[]> {
  const { path, result } = await runPacking(deps, work, packing);
  return isQpdfSuccess(result) ? [path] : [];
}

async function runPacking(
  deps: PdfDeps,
  work: Work,
  { input, name, more = [] }: Packing,
): Promise<{ path: string; result: CommandResult }> {
  const path = join(work.directory, name);
  return { path, result: await runQpdf(deps, work, [...PACK, input, ...more, path]) };
}

/** Candidates; nothing when the rewriting fails: the lossless one remains. */
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
