/** Writer of one-page PDF files with parts that no real program writes. */
import { deflateSync } from 'node:zlib';
import { deflateEqualBytes } from '#test/hostile/forge-deflate.ts';
import { PdfWriter } from '#worker-image/engine/containers/pdf-writer.ts';

interface Page {
  /** Further entries of the page; `catalogue` holds those of the catalog. */
  readonly page?: string;
  readonly catalogue?: string;
  /** Entries of the content stream, and its encoded data. */
  readonly content?: { readonly entries: string; readonly data: Buffer };
  /** Adds objects and returns further entries of page and catalog. */
  readonly more?: (writer: PdfWriter) => { page?: string; catalogue?: string };
}

/** Returns a PDF of one page. */
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

/** Returns entries and data of a stream that is compressed by Deflate. */
export function deflated(plain: Buffer): { entries: string; data: Buffer } {
  return { entries: '/Filter /FlateDecode', data: deflateSync(plain, { level: 9 }) };
}

/** Returns entries and data of a stream that decompresses to equal bytes. */
export function deflatedBytes(count: number, value: number): { entries: string; data: Buffer } {
  return { entries: '/Filter /FlateDecode', data: deflateEqualBytes(count, value) };
}

/** Returns entries and data of a stream of spaces, which draw nothing. */
export const deflatedBlanks = (count: number): { entries: string; data: Buffer } => deflatedBytes(count, 0x20);

/** Returns spaces, which draw nothing in a content stream. */
export function blanks(bytes: number): Buffer {
  return Buffer.alloc(bytes, 0x20);
}
