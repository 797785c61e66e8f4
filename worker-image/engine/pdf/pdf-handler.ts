import type { KindHandler } from '#worker-image/engine/handler.ts';
import { compressPdf } from '#worker-image/engine/pdf/compress-pdf.ts';
import { convertPdf } from '#worker-image/engine/pdf/convert-pdf.ts';
import { inspectPdf } from '#worker-image/engine/pdf/inspect-pdf.ts';
import { stripPdf } from '#worker-image/engine/pdf/strip-pdf.ts';
import { verifyPdf } from '#worker-image/engine/pdf/verify-pdf.ts';

/** PDF: smaller, one page as a picture, or without metadata. */
export const pdfHandler: KindHandler = {
  inspect: inspectPdf,
  compress: compressPdf,
  convert: convertPdf,
  stripMetadata: stripPdf,
  verify: verifyPdf,
};
