import type { KindHandler } from '#worker-image/engine/handler.ts';
import { compressPdf } from '#worker-image/engine/pdf/compress-pdf.ts';
import { convertPdf } from '#worker-image/engine/pdf/convert-pdf.ts';
import { inspectPdf, type PdfFacts } from '#worker-image/engine/pdf/inspect-pdf.ts';
import { startScriptServer } from '#worker-image/engine/pdf/start-script-server.ts';
import { stripPdf } from '#worker-image/engine/pdf/strip-pdf.ts';
import { verifyPdf } from '#worker-image/engine/pdf/verify-pdf.ts';

/** Handler of PDF: compresses, renders a page as an image, strips metadata. */
export const pdfHandler: KindHandler<PdfFacts> = {
  prepare: (deps) => Promise.resolve(startScriptServer(deps)),
  inspect: inspectPdf,
  compress: compressPdf,
  convert: convertPdf,
  stripMetadata: stripPdf,
  verify: verifyPdf,
};
