import type { Work } from '#worker-image/engine/handler.ts';
import { damagedPdf, runPdfTool, type PdfDeps } from '#worker-image/engine/pdf/run-pdf-tool.ts';
import { readablePdf } from '#worker-image/engine/pdf/repair-pdf.ts';

/** Page entries that can be invalid; viewers then assume no rotation, the MediaBox and 1. */
export type PageEntry = 'Rotate' | 'CropBox' | 'UserUnit';

/** Displayed size: cropped and rotated, in points (1/72 inch), with `UserUnit` applied. */
export interface PageSize {
  readonly width: number;
  readonly height: number;
  /** `UserUnit`: points per unit of the page, almost always 1. */
  readonly unit: number;
  /** Invalid entries, which programs interpret differently. */
  readonly invalid: readonly PageEntry[];
}

interface PageBox {
  readonly left: number;
  readonly bottom: number;
  readonly right: number;
  readonly top: number;
}

const PAGE_ENTRIES: readonly PageEntry[] = ['Rotate', 'CropBox', 'UserUnit'];

/**
 * Reads the size of a page. pdfinfo resolves inherited entries, clips the CropBox to the MediaBox and assumes US
 * letter for a missing or empty MediaBox, as viewers do. mutool reads `UserUnit`, which is not inherited.
 * @throws MediaError processing_failed when the page cannot be read.
 */
export async function readPageSize(deps: PdfDeps, work: Work, page: number): Promise<PageSize> {
  const path = await readablePdf(work);
  const [info, own] = await Promise.all([
    runPdfTool(deps, work, ['pdfinfo', '-f', String(page), '-l', String(page), '-box', path]),
    runPdfTool(deps, work, ['mutool', 'pages', path, String(page)]),
  ]);
  const media = parseBox(info.stdout, 'MediaBox');
  if (media === null) throw damagedPdf(info);
  const crop = parseBox(info.stdout, 'CropBox');
  const rotation = Number(/^Page +\d+ rot: +(-?\d+)$/m.exec(info.stdout)?.[1] ?? 0) % 180;
  const userUnit = Number(/<UserUnit v="([^"]+)"/.exec(own.stdout)?.[1] ?? 1);
  const isValid: Record<PageEntry, boolean> = {
    Rotate: rotation % 90 === 0,
    CropBox: crop !== null,
    UserUnit: userUnit > 0,
  };
  const unit = isValid.UserUnit ? userUnit : 1;
  const box = crop ?? media;
  const [width, height] = [(box.right - box.left) * unit, (box.top - box.bottom) * unit];
  const invalid = PAGE_ENTRIES.filter((entry) => !isValid[entry]);
  return rotation === 90 ? { width: height, height: width, unit, invalid } : { width, height, unit, invalid };
}

/** Parses a box from the output of pdfinfo. Returns null for one without area. */
function parseBox(info: string, name: string): PageBox | null {
  const line = new RegExp(`^Page +\\d+ ${name}: +(\\S+) +(\\S+) +(\\S+) +(\\S+)$`, 'm').exec(info) ?? [];
  const [, left, bottom, right, top] = line.map(Number);
  if (left === undefined || bottom === undefined || right === undefined || top === undefined) return null;
  return right > left && top > bottom ? { left, bottom, right, top } : null;
}
