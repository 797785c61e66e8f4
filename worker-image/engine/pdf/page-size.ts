import { MediaError } from '#crds/media-error.ts';
import type { Work } from '#worker-image/engine/handler.ts';
import { damagedPdf, runPdfTool, type PdfDeps } from '#worker-image/engine/pdf/run-pdf-tool.ts';

/** As shown: cropped and turned, in points (1/72 inch) with the page's own unit applied. */
export interface PageSize {
  readonly width: number;
  readonly height: number;
  /** Points of one unit of the page, 1 on nearly all. */
  readonly unit: number;
}

interface Box {
  readonly left: number;
  readonly bottom: number;
  readonly right: number;
  readonly top: number;
}

/** What readers assume for a page whose boxes are missing or empty: US letter. */
const LETTER: Box = { left: 0, bottom: 0, right: 612, top: 792 };

/** @throws MediaError processing_failed when the page cannot be read, or says of itself what programs take differently. */
export async function readPageSize(deps: PdfDeps, work: Work, page: number): Promise<PageSize> {
  const result = await runPdfTool(deps, work, ['mutool', 'pages', work.input.path, String(page)]);
  const found = /<page\b[^>]*>([\s\S]*?)<\/page>/.exec(result.stdout)?.[1];
  if (found === undefined) throw damagedPdf(result);
  const box = shownBox(found, page);
  const unit = Number(/<UserUnit v="([^"]+)"/.exec(found)?.[1] ?? 1);
  if (!(unit > 0)) throw oddPage(page, `its UserUnit is ${unit}, which must be above 0`);
  const [width, height] = [(box.right - box.left) * unit, (box.top - box.bottom) * unit];
  return isOnItsSide(found, page) ? { width: height, height: width, unit } : { width, height, unit };
}

function shownBox(found: string, page: number): Box {
  const media = boxOf(found, 'MediaBox') ?? LETTER;
  const shown = overlap(boxOf(found, 'CropBox') ?? media, media);
  if (shown === null) throw oddPage(page, 'its CropBox lies outside of its MediaBox');
  return shown;
}

function isOnItsSide(found: string, page: number): boolean {
  const turn = Math.abs(Number(/<Rotate v="([^"]+)"/.exec(found)?.[1] ?? 0)) % 180;
  if (turn % 90 !== 0) throw oddPage(page, 'its Rotate is no multiple of 90 degrees');
  return turn === 90;
}

function oddPage(page: number, what: string): MediaError {
  return new MediaError(
    'processing_failed',
    `Page ${page} of the PDF cannot be drawn: ${what}. Save the PDF anew by the program that made it.`,
  );
}

function boxOf(page: string, name: string): Box | null {
  const [, left, bottom, right, top] = (
    new RegExp(`<${name} l="([^"]+)" b="([^"]+)" r="([^"]+)" t="([^"]+)"`).exec(page) ?? []
  ).map(Number);
  if (left === undefined || bottom === undefined || right === undefined || top === undefined) return null;
  const box = {
    left: Math.min(left, right),
    bottom: Math.min(bottom, top),
    right: Math.max(left, right),
    top: Math.max(bottom, top),
  };
  return box.right > box.left && box.top > box.bottom ? box : null;
}

/** null when they have nothing in common. */
function overlap(crop: Box, media: Box): Box | null {
  const box = {
    left: Math.max(crop.left, media.left),
    bottom: Math.max(crop.bottom, media.bottom),
    right: Math.min(crop.right, media.right),
    top: Math.min(crop.top, media.top),
  };
  return box.right > box.left && box.top > box.bottom ? box : null;
}
