/** Renders one page as a picture. Spec: POST /v1/convert, page and dpi. */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { MediaError } from '#crds/media-error.ts';
import { NO_FACTS, type EngineDeps, type Facts, type Produced, type Work } from '#worker-image/engine/handler.ts';
import { readPageSize, type PageEntry, type PageSize } from '#worker-image/engine/pdf/page-size.ts';
import { damagedPdf, runPdfScript, runPdfTool } from '#worker-image/engine/pdf/run-pdf-tool.ts';
import type { CommandResult } from '#worker-image/tools/run-command.ts';
import { wholePdf } from '#worker-image/engine/pdf/whole-pdf.ts';
import { readImageFacts } from '#worker-image/engine/image/read-image-facts.ts';

export interface Pixels {
  readonly width: number;
  readonly height: number;
}

const POINTS_PER_INCH = 72;
const JPEG_QUALITY = 90;
/** libjpeg's. */
const MAX_JPEG_SIDE = 65_500;

/**
 * PNG or JPEG of `convert.page` at `convert.dpi`, on white.
 * @throws MediaError invalid_options when there is no such page, limit_exceeded when the picture would have
 * too many pixels, processing_failed.
 */
export async function convertPdf(deps: EngineDeps, work: Work, facts: Facts): Promise<Produced> {
  const { to, page, dpi } = work.options.convert;
  if (to !== 'png' && to !== 'jpg') throw new Error(`A PDF was to be converted to ${to}.`);
  requirePage(page, facts.pages ?? 0);
  const size = await readPageSize(deps, work, page);
  requirePixels(pixelSize(size, dpi), work, dpi);
  const path = join(work.directory, `page.${to}`);
  const source = size.odd.length === 0 ? await wholePdf(work) : await straighten(deps, work, size.odd);
  const result = await draw(deps, work, { source, unit: size.unit, path });
  deps.onProgress(90);
  const written = await readImageFacts(deps, { path, format: to, directory: work.directory }).catch(
    (cause: unknown) => {
      throw new MediaError('processing_failed', damagedPdf(result).message, { cause });
    },
  );
  return { path, format: to, facts: { ...NO_FACTS, width: written.width, height: written.height }, warnings: [] };
}

/** The size of the picture in whole pixels. */
export function pixelSize({ width, height }: PageSize, dpi: number): Pixels {
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

function requirePixels({ width, height }: Pixels, { limits, options }: Work, dpi: number): void {
  const side = Math.max(width, height);
  if (options.convert.to === 'jpg' && side > MAX_JPEG_SIDE) {
    throw new MediaError(
      'limit_exceeded',
      `The page at ${dpi} dpi would have a side of ${side} pixels; at most ${MAX_JPEG_SIDE} go into a jpg. Choose a smaller dpi, or png.`,
    );
  }
  if (width * height <= limits.maxPixels) return;
  throw new MediaError(
    'limit_exceeded',
    `The page at ${dpi} dpi would be ${width} × ${height} = ${width * height} pixels; at most ${limits.maxPixels} are allowed. Choose a smaller dpi.`,
  );
}

/** A copy whose page says what viewers assume, so that both renderers draw it alike. */
async function straighten(deps: EngineDeps, work: Work, odd: readonly PageEntry[]): Promise<string> {
  const copy = join(work.directory, 'straight.pdf');
  const args = [await wholePdf(work), copy, String(work.options.convert.page), ...odd];
  const result = await runPdfScript(deps, work, { name: 'straighten-page', args });
  if (result.exitCode !== 0) throw damagedPdf(result);
  return copy;
}

interface Drawing {
  readonly source: string;
  readonly unit: number;
  /** Of the picture, named `page` in the work's directory. */
  readonly path: string;
}

/** MuPDF draws PNG faster; where it draws none, poppler may know the file better. */
async function draw(deps: EngineDeps, work: Work, drawing: Drawing): Promise<CommandResult> {
  const { to, dpi, page } = work.options.convert;
  if (to === 'png') {
    const args = [drawing.source, drawing.path, String(page), String(dpi)];
    const result = await runPdfScript(deps, work, { name: 'render-page', args });
    if (await isFile(drawing.path)) return result;
  }
  return runPdfTool(deps, work, popplerLine(work, drawing));
}

/** pdftoppm knows nothing of a page's own unit: it goes into the resolution. */
function popplerLine({ options, directory }: Work, { source, unit }: Drawing): [string, ...string[]] {
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
