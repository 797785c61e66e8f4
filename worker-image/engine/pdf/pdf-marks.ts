/** Marks of a PDF that are never inside a compressed stream, so that they are found without a PDF reader. */
import { createReadStream } from 'node:fs';
import type { Work } from '#worker-image/engine/handler.ts';

export interface PdfMarks {
  /** It has a digital signature, which covers byte ranges of the file. */
  readonly isSigned: boolean;
  /** Its metadata claims PDF/A-1, which is based on PDF 1.4 and allows no object streams. */
  readonly isPdfA1: boolean;
}

const SIGNATURE = /\/ByteRange\s*\[/;
const PDF_A_1 = /pdfaid:part\s*(?:=\s*["']|>)\s*1\b/;
const OVERLAP = 64;

/** Searches the whole file. */
export async function readPdfMarks({ signal }: { signal: AbortSignal }, work: Pick<Work, 'input'>): Promise<PdfMarks> {
  let [isSigned, isPdfA1] = [false, false];
  let tail = '';
  for await (const chunk of createReadStream(work.input.path, { encoding: 'latin1', signal })) {
    const text = tail + String(chunk);
    isSigned ||= SIGNATURE.test(text);
    isPdfA1 ||= PDF_A_1.test(text);
    tail = text.slice(-OVERLAP);
  }
  return { isSigned, isPdfA1 };
}
