/** PDF files of one page around parts that no honest program writes. */
import { deflateSync } from 'node:zlib';
import { PdfWriter } from '#worker-image/engine/image/pdf-writer.ts';

interface Page {
  /** Entries of the page, the catalogue and the page tree, besides their own. */
  readonly page?: string;
  readonly catalogue?: string;
  /** Entries of the content's stream, and its data as they pack it. */
  readonly content?: { readonly entries: string; readonly data: Buffer };
  /** Adds objects of the file's own and gives more entries of page and catalogue. */
  readonly more?: (writer: PdfWriter) => { page?: string; catalogue?: string };
}

/** A PDF of one page. */
export function pdf({ page = '', catalogue = '', content, more }: Page = {}): Buffer {
  const writer = new PdfWriter();
  const pages = writer.reserve();
  const { entries, data } = content ?? deflated(Buffer.from('BT /F 18 Tf 72 720 Td (A page) Tj ET'));
  const stream = writer.addStream(entries, data);
  const font = writer.add('<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>');
  const own = more?.(writer) ?? {};
  const only = writer.add(
    `<< /Type /Page /Parent ${pages} 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F ${font} 0 R >> >> /Contents ${stream} 0 R ${page} ${own.page ?? ''} >>`,
  );
  writer.fill(pages, `<< /Type /Pages /Kids [${only} 0 R] /Count 1 >>`);
  return writer.finish(writer.add(`<< /Type /Catalog /Pages ${pages} 0 R ${catalogue} ${own.catalogue ?? ''} >>`));
}

/** A stream packed by Deflate, so many times. */
export function deflated(plain: Buffer, layers = 1): { entries: string; data: Buffer } {
  let data = plain;
  for (let layer = 0; layer < layers; layer += 1) data = deflateSync(data, { level: 9 });
  return { entries: `/Filter [${'/FlateDecode '.repeat(layers)}]`, data };
}

/** Blanks, which are content without effect. */
export function blanks(bytes: number): Buffer {
  return Buffer.alloc(bytes, 0x20);
}
