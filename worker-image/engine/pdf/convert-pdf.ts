/** Renders one page as an image (docs/reference/options.md#convert). */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { MediaError } from '#crds/contract/media-error.ts';
import type { EngineDeps, Produced, Work } from '#worker-image/engine/handler.ts';
import type { PdfFacts } from '#worker-image/engine/pdf/inspect-pdf.ts';
import { readPageSize, type PageEntry, type PageSize } from '#worker-image/engine/pdf/page-size.ts';
import { damagedPdf, runPdfScript, runPdfTool } from '#worker-image/engine/pdf/run-pdf-tool.ts';
import type { ToolResult } from '#worker-image/tools/run-command.ts';
import { readablePdf } from '#worker-image/engine/pdf/repair-pdf.ts';

export interface PixelSize {
  readonly width: number;
  readonly height: number;
}

const POINTS_PER_INCH = 72;
const JPEG_QUALITY = 90;
/** Maximum side of libjpeg, in pixels. */
const MAX_JPEG_SIDE = 65_500;

/**
 * Renders `convert.page` as PNG or JPEG at `convert.dpi`, on white.
 * @throws MediaError invalid_options for a missing page, limit_exceeded for too many pixels, processing_failed.
 */
export async function convertPdf(deps: EngineDeps, work: Work, facts: PdfFacts): Promise<Produced> {
  const { to, page, dpi } = work.options.convert;
  if (to !== 'png' && to !== 'jpg') throw new Error(`PDFs cannot be converted to ${to}.`);
  requirePage(page, facts.pages);
  const size = await readPageSize(deps, work, page);
  const pixels = pixelSize(size, dpi);
  requirePixels(pixels, work, dpi);
  const path = join(work.directory, `page.${to}`);
  const source = size.invalid.length === 0 ? await readablePdf(work) : await normalize(deps, work, size.invalid);
  const result = await renderPage(deps, work, { source, unit: size.unit, pixels, path });
  deps.onProgress(90);
  const image = { path, format: to, directory: work.directory, maxPixels: work.limits.maxPixels };
  const { openPicture } = await import('#worker-image/engine/image/loaders/open-picture.ts');
  const picture = await openPicture(deps, image).catch((cause: unknown) => {
    throw new MediaError('processing_failed', damagedPdf(result).message, { cause });
  });
  return { path, format: to, facts: picture.size, warnings: [] };
}

/** Returns the size of the rendered page in whole pixels. */
export function pixelSize({ width, height }: PageSize, dpi: number): PixelSize {
  const pixels = (points: number): number => Math.max(1, Math.round((points / POINTS_PER_INCH) * dpi));
  return { width: pixels(width), height: pixels(height) };
}

function requirePage(page: number, pages: number): void {
  if (page <= pages) return;
  throw new MediaError(
    'invalid_options',
    `There is no page ${page}: the PDF has ${pages} page${pages === 1 ? '' : 's'}.`,
    {
      param: 'convert.page',
    },
  );
}

function requirePixels({ width, height }: PixelSize, { limits, options }: Work, dpi: number): void {
  const side = Math.max(width, height);
  if (options.convert.to === 'jpg' && side > MAX_JPEG_SIDE) {
    throw new MediaError(
      'limit_exceeded',
      `The page at ${dpi} dpi would have a side of ${side} pixels; the maximum of jpg is ${MAX_JPEG_SIDE}. Choose a smaller dpi, or png.`,
    );
  }
  if (width * height <= limits.maxPixels) return;
  throw new MediaError(
    'limit_exceeded',
    `The page at ${dpi} dpi would be ${width} × ${height} = ${width * height} pixels; at most ${limits.maxPixels} are allowed. Choose a smaller dpi.`,
  );
}

/** Replaces invalid page entries in a copy by the values that viewers assume, so that both renderers agree. */
async function normalize(deps: EngineDeps, work: Work, invalid: readonly PageEntry[]): Promise<string> {
  const copy = join(work.directory, 'normalized.pdf');
  const args = [await readablePdf(work), copy, String(work.options.convert.page), ...invalid];
  const result = await runPdfScript(deps, work, { name: 'normalize-page', args });
  if (result.exitCode !== 0) throw damagedPdf(result);
  return copy;
}

interface PageRendering {
  readonly source: string;
  readonly unit: number;
  readonly pixels: PixelSize;
  /** Output path: `page` with its extension, in the work's directory. */
  readonly path: string;
}

/** Renders with PDFium, and a page that it cannot load with poppler, which lacks the character maps of Chinese, Japanese and Korean. */
async function renderPage(deps: EngineDeps, work: Work, rendering: PageRendering): Promise<ToolResult> {
  const { dpi, page } = work.options.convert;
  const { source, path, pixels } = rendering;
  const args = [source, path, ...[page, pixels.width, pixels.height, dpi, JPEG_QUALITY].map(String)];
  const result = await runPdfScript(deps, work, { name: 'render-page', args });
  if (result.exitCode === 0 && (await isFile(path))) return result;
  return runPdfTool(deps, work, popplerCommand(work, rendering));
}

/** pdftoppm ignores `UserUnit`, so the resolution is multiplied by it. */
function popplerCommand({ options, directory }: Work, { source, unit }: PageRendering): [string, ...string[]] {
  const { to, dpi } = options.convert;
  const page = String(options.convert.page);
  const format = to === 'png' ? ['-png'] : ['-jpeg', '-jpegopt', `quality=${JPEG_QUALITY}`];
  return [
    'pdftoppm',
    '-q',
    '-cropbox',
    '-r',
    String(dpi * unit),
    ...format,
    '-singlefile',
    '-f',
    page,
    '-l',
    page,
    source,
    join(directory, 'page'),
  ];
}

function isFile(path: string): Promise<boolean> {
  return stat(path).then(
    ({ size }) => size > 0,
    () => false,
  );
}
