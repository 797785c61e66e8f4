import type { Work } from '#worker-image/engine/handler.ts';
import { damagedPdf, runPdfTool, runQpdf, type PdfDeps } from '#worker-image/engine/pdf/run-pdf-tool.ts';
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

/** Matches a number or a reference. */
const USER_UNIT = /\/UserUnit (\d+ \d+ R|\S+)/;

/** Number of the last lines of pdfinfo that are read: they have what it prints of a page. */
const LAST_LINES = 20;

const PAGE_ENTRIES: readonly PageEntry[] = ['Rotate', 'CropBox', 'UserUnit'];

/**
 * Reads the size of a page. pdfinfo resolves inherited entries, clips the CropBox to the MediaBox and assumes US
 * letter for a missing or empty MediaBox, as viewers do. qpdf reads `UserUnit`, which is not inherited.
 * @throws MediaError processing_failed when the page cannot be read.
 */
export async function readPageSize(deps: PdfDeps, work: Work, page: number): Promise<PageSize> {
  const path = await readablePdf(work);
  let info: readonly string[] = [];
  const onLine = (line: string): void => {
    info = [...info, line].slice(-LAST_LINES);
  };
  const [result, userUnit] = await Promise.all([
    runPdfTool(deps, work, ['pdfinfo', '-f', String(page), '-l', String(page), '-box', path], onLine),
    readUserUnit(deps, work, { path, page }),
  ]);
  const media = parseBox(info, 'MediaBox');
  if (media === null) throw damagedPdf(result);
  const crop = parseBox(info, 'CropBox');
  const rotation = Number(lastMatch(info, /^Page +\d+ rot: +(-?\d+)$/)?.[1] ?? 0) % 180;
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

/** Returns the `UserUnit` of a page: 1 when it is missing, NaN when it is no number. */
async function readUserUnit(
  deps: PdfDeps,
  work: Work,
  { path, page }: { path: string; page: number },
): Promise<number> {
  const show = async (object: string): Promise<string> => {
    const { stdout } = await runQpdf(deps, work, [`--show-object=${object.replace(' ', ',')}`, path]);
    return stdout.trim();
  };
  const pageObject = new RegExp(`^page ${page}: (\\d+ \\d+) R$`);
  let object = '';
  const onLine = (line: string): void => {
    object = pageObject.exec(line)?.[1] ?? object;
  };
  await runPdfTool(deps, work, ['qpdf', '--show-pages', path], onLine);
  const [, value = '1'] = USER_UNIT.exec(withoutInner(await show(object))) ?? [];
  return Number(value.endsWith(' R') ? await show(value.slice(0, -2)) : value);
}

/** Returns a printed dictionary without the dictionaries inside of it. */
function withoutInner(dictionary: string): string {
  const inner = dictionary.replace(/^<<|>>$/g, '').replaceAll(/<<(?:(?!<<|>>).)*>>/gs, '');
  return inner.includes('<<') && inner.includes('>>') ? withoutInner(inner) : inner;
}

/** Parses a box from the last lines of pdfinfo. Returns null for one without area. */
function parseBox(info: readonly string[], name: string): PageBox | null {
  const line = new RegExp(`^Page +\\d+ ${name}: +(\\S+) +(\\S+) +(\\S+) +(\\S+)$`);
  const [, left, bottom, right, top] = (lastMatch(info, line) ?? []).map(Number);
  if (left === undefined || bottom === undefined || right === undefined || top === undefined) return null;
  return right > left && top > bottom ? { left, bottom, right, top } : null;
}

/** Returns the last match. pdfinfo prints title and author before the page, with line breaks that could forge its lines. */
function lastMatch(info: readonly string[], line: RegExp): RegExpExecArray | null {
  return info.reduce<RegExpExecArray | null>((last, text) => line.exec(text) ?? last, null);
}
