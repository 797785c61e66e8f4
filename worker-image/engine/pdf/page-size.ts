import type { Work } from '#worker-image/engine/handler.ts';
import { damagedPdf, runPdfTool, type PdfDeps } from '#worker-image/engine/pdf/run-pdf-tool.ts';
import { wholePdf } from '#worker-image/engine/pdf/whole-pdf.ts';

/** Entries of a page that can make no sense; viewers then assume no turn, the MediaBox and 1. */
export type PageEntry = 'Rotate' | 'CropBox' | 'UserUnit';

/** As shown: cropped and turned, in points (1/72 inch) with the page's own unit applied. */
export interface PageSize {
  readonly width: number;
  readonly height: number;
  /** Points of one unit of the page, 1 on nearly all. */
  readonly unit: number;
  /** Entries that make no sense, which each program takes differently. */
  readonly odd: readonly PageEntry[];
}

interface Box {
  readonly left: number;
  readonly bottom: number;
  readonly right: number;
  readonly top: number;
}

const PAGE_ENTRIES: readonly PageEntry[] = ['Rotate', 'CropBox', 'UserUnit'];

/**
 * pdfinfo knows what a page inherits, cuts the CropBox down to the MediaBox and puts US letter in place of a
 * MediaBox that is missing or empty, as viewers do; mutool knows the unit, which is the page's own.
 * @throws MediaError processing_failed when the page cannot be read.
 */
export async function readPageSize(deps: PdfDeps, work: Work, page: number): Promise<PageSize> {
  const path = await wholePdf(work);
  const [info, own] = await Promise.all([
    runPdfTool(deps, work, ['pdfinfo', '-f', String(page), '-l', String(page), '-box', path]),
    runPdfTool(deps, work, ['mutool', 'pages', path, String(page)]),
  ]);
  const media = boxOf(info.stdout, 'MediaBox');
  if (media === null) throw damagedPdf(info);
  const crop = boxOf(info.stdout, 'CropBox');
  const turn = Number(/^Page +\d+ rot: +(-?\d+)$/m.exec(info.stdout)?.[1] ?? 0) % 180;
  const said = Number(/<UserUnit v="([^"]+)"/.exec(own.stdout)?.[1] ?? 1);
  const isSound: Record<PageEntry, boolean> = { Rotate: turn % 90 === 0, CropBox: crop !== null, UserUnit: said > 0 };
  const unit = isSound.UserUnit ? said : 1;
  const box = crop ?? media;
  const [width, height] = [(box.right - box.left) * unit, (box.top - box.bottom) * unit];
  const odd = PAGE_ENTRIES.filter((entry) => !isSound[entry]);
  return turn === 90 ? { width: height, height: width, unit, odd } : { width, height, unit, odd };
}

/** null for a box without area. */
function boxOf(info: string, name: string): Box | null {
  const line = new RegExp(`^Page +\\d+ ${name}: +(\\S+) +(\\S+) +(\\S+) +(\\S+)$`, 'm').exec(info) ?? [];
  const [, left, bottom, right, top] = line.map(Number);
  if (left === undefined || bottom === undefined || right === undefined || top === undefined) return null;
  return right > left && top > bottom ? { left, bottom, right, top } : null;
}
