/** Hostile PDF files. */
import { deflateEqualBytes } from '#test/hostile/forge-deflate.ts';
import { pdf } from '#test/hostile/forge-pdf.ts';
import type { HostileFile } from '#test/hostile/hostile-file.ts';
import { PdfWriter } from '#worker-image/engine/containers/pdf-writer.ts';

export const HOSTILE_PDFS: readonly HostileFile[] = [
  {
    name: 'a PDF that runs scripts and programs, sends forms and opens addresses',
    filename: 'a.pdf',
    bytes: (bait) => pdf({ catalogue: `/OpenAction ${actions(bait)}`, page: `/AA << /O ${actions(bait)} >>` }),
    ends: ['done'],
  },
  {
    name: 'the same PDF while its metadata is removed',
    filename: 'a.pdf',
    bytes: (bait) => pdf({ catalogue: `/OpenAction ${actions(bait)}`, page: `/AA << /O ${actions(bait)} >>` }),
    operation: 'strip_metadata',
    ends: ['done'],
  },
  {
    name: 'the same PDF while it is drawn',
    filename: 'a.pdf',
    bytes: (bait) => pdf({ catalogue: `/OpenAction ${actions(bait)}`, page: `/AA << /O ${actions(bait)} >>` }),
    operation: 'convert',
    options: { convert: { to: 'png' } },
    ends: ['done'],
  },
  {
    name: 'a PDF whose content, fonts and images are in other files',
    filename: 'a.pdf',
    bytes: (bait) => externalStreams(bait),
    ends: ['done', 'processing_failed'],
  },
  {
    name: 'the same PDF while it is drawn as JPEG',
    filename: 'a.pdf',
    bytes: (bait) => externalStreams(bait),
    operation: 'convert',
    options: { convert: { to: 'jpg' } },
    ends: ['done', 'processing_failed'],
  },
  {
    name: 'a PDF with an embedded file and an XFA form that names addresses',
    filename: 'a.pdf',
    bytes: (bait) =>
      pdf({
        more: (writer) => {
          const file = writer.addStream('/Type /EmbeddedFile', Buffer.from('MZ a program'));
          const spec = writer.add(
            `<< /Type /Filespec /F (../../../run.exe) /UF (../../../run.exe) /EF << /F ${file} 0 R >> >>`,
          );
          const xfa = writer.addStream(
            '',
            Buffer.from(
              `<?xml version="1.0"?><!DOCTYPE x [<!ENTITY e SYSTEM "${bait.fileUrl}"><!ENTITY h SYSTEM "${bait.url('xfa')}">]><xdp:xdp xmlns:xdp="http://ns.adobe.com/xdp/">&e;&h;</xdp:xdp>`,
            ),
          );
          return {
            catalogue: `/Names << /EmbeddedFiles << /Names [(a) ${spec} 0 R] >> >> /AcroForm << /Fields [] /XFA ${xfa} 0 R >>`,
          };
        },
      }),
    ends: ['done'],
  },
  {
    name: 'a PDF whose pages are their own parents',
    filename: 'a.pdf',
    bytes: () => {
      const writer = new PdfWriter();
      const pages = writer.reserve();
      writer.fill(pages, `<< /Type /Pages /Kids [${pages} 0 R ${pages} 0 R] /Count 2 >>`);
      return writer.finish(writer.add(`<< /Type /Catalog /Pages ${pages} 0 R >>`));
    },
    ends: ['processing_failed', 'done'],
  },
  {
    name: 'a PDF that claims two thousand million pages',
    filename: 'a.pdf',
    bytes: () => Buffer.from(pdf().toString('latin1').replace('/Count 1', '/Count 2000000000'), 'latin1'),
    ends: ['processing_failed', 'limit_exceeded', 'done'],
  },
  {
    name: 'a PDF of 1,001 pages',
    filename: 'a.pdf',
    bytes: () => pagesOf(1001),
    ends: ['limit_exceeded'],
    says: /1001 pages.*1000/,
  },
  {
    name: 'a PDF whose outline has a cycle',
    filename: 'a.pdf',
    bytes: () =>
      pdf({
        more: (writer) => {
          const outline = writer.reserve();
          const item = writer.reserve();
          writer.fill(outline, `<< /Type /Outlines /First ${item} 0 R /Last ${item} 0 R /Count 1 >>`);
          writer.fill(
            item,
            `<< /Title (a) /Parent ${outline} 0 R /Next ${item} 0 R /First ${item} 0 R /Last ${item} 0 R /Count 9 >>`,
          );
          return { catalogue: `/Outlines ${outline} 0 R` };
        },
      }),
    ends: ['done', 'processing_failed'],
  },
  {
    name: 'a PDF whose form draws itself',
    filename: 'a.pdf',
    bytes: () =>
      pdf({
        content: { entries: '', data: Buffer.from('/X Do') },
        more: (writer) => {
          const form = writer.reserve();
          const inner = writer.addStream(
            `/Type /XObject /Subtype /Form /BBox [0 0 612 792] /Resources << /XObject << /X ${form} 0 R /Y ${form} 0 R >> >>`,
            Buffer.from('/X Do /Y Do /X Do /Y Do'),
          );
          writer.fill(form, `${inner} 0 R`);
          return { page: `/Resources << /XObject << /X ${inner} 0 R >> >>` };
        },
      }),
    operation: 'convert',
    options: { convert: { to: 'png' } },
    ends: ['done', 'processing_failed'],
  },
  {
    name: 'a PDF of arrays nested 200,000 deep',
    filename: 'a.pdf',
    bytes: () => pdf({ page: `/Private ${'['.repeat(200_000)}${']'.repeat(200_000)}` }),
    ends: ['processing_failed', 'done'],
  },
  {
    name: 'a PDF with a page of a thousand million points',
    filename: 'a.pdf',
    bytes: () =>
      Buffer.from(pdf().toString('latin1').replace('[0 0 612 792]', '[0 0 1000000000 1000000000]'), 'latin1'),
    operation: 'convert',
    options: { convert: { to: 'png' } },
    ends: ['limit_exceeded'],
  },
  {
    name: 'a PDF that is to be drawn with a page beyond its end',
    filename: 'a.pdf',
    bytes: () => pdf(),
    operation: 'convert',
    options: { convert: { to: 'png', page: 7 } },
    ends: ['invalid_options'],
  },
  {
    name: 'a PDF that ends in its middle',
    filename: 'a.pdf',
    bytes: () => pdf().subarray(0, 300),
    ends: ['processing_failed'],
  },
  {
    name: 'a PDF under a password that nobody has',
    filename: 'a.pdf',
    bytes: async () => {
      const { readFile } = await import('node:fs/promises');
      return readFile(new URL('../../api/data/samples/encrypted.pdf', import.meta.url));
    },
    ends: ['encrypted_pdf'],
  },
  {
    name: 'a PDF with an image of 9,000 × 9,000 pixels in 80 kB',
    filename: 'a.pdf',
    bytes: () =>
      pdf({
        content: { entries: '', data: Buffer.from('q 600 0 0 700 0 0 cm /I Do Q') },
        more: (writer) => {
          const image =
            '/Type /XObject /Subtype /Image /Width 9000 /Height 9000 /ColorSpace /DeviceGray /BitsPerComponent 8';
          const data = deflateEqualBytes(9000 * 9000);
          return {
            page: `/Resources << /XObject << /I ${writer.addStream(`${image} /Filter /FlateDecode`, data)} 0 R >> >>`,
          };
        },
      }),
    ends: ['done', 'processing_failed'],
  },
];

/** Returns every action that a viewer performs by itself or on a click. */
function actions(bait: { url(name: string): string; path: string; unwritten: string; fileUrl: string }): string {
  return [
    `<< /S /JavaScript /JS (app.launchURL\\("${bait.url('javascript')}"\\)) /Next [`,
    `<< /S /URI /URI (${bait.url('uri')}) >>`,
    `<< /S /Launch /F (/bin/sh) /Unix << /F (/bin/sh) /P (-c "touch ${bait.unwritten}") >> >>`,
    `<< /S /GoToR /F (${bait.path}) /D [0 /Fit] >>`,
    `<< /S /GoToR /F << /FS /URL /F (${bait.url('remote.pdf')}) >> /D [0 /Fit] >>`,
    `<< /S /SubmitForm /F << /FS /URL /F (${bait.url('submit')}) >> >>`,
    `<< /S /ImportData /F (${bait.path}) >>`,
    `<< /S /Rendition /OP 0 /R << /S /MR /C << /S /MCD /D << /FS /URL /F (${bait.url('movie')}) >> >> >> >> ] >>`,
  ].join(' ');
}

/** Returns a PDF with streams whose data is in other files, by their `/F` entry. */
function externalStreams(bait: { url(name: string): string; path: string }): Buffer {
  return pdf({
    content: { entries: `/F (${bait.path})`, data: Buffer.alloc(0) },
    more: (writer) => {
      const image = writer.addStream(
        `/Type /XObject /Subtype /Image /Width 8 /Height 8 /ColorSpace /DeviceGray /BitsPerComponent 8 /F << /FS /URL /F (${bait.url('image')}) >>`,
        Buffer.alloc(0),
      );
      return {
        page: `/Resources << /XObject << /I ${image} 0 R >> >> /Annots [<< /Type /Annot /Subtype /Link /Rect [0 0 9 9] /A ${actions({ ...bait, unwritten: '/dev/null', fileUrl: '' })} >>]`,
      };
    },
  });
}

function pagesOf(count: number): Buffer {
  const writer = new PdfWriter();
  const pages = writer.reserve();
  const kids = Array.from({ length: count }, () =>
    writer.add(`<< /Type /Page /Parent ${pages} 0 R /MediaBox [0 0 9 9] /Resources << >> >>`),
  );
  writer.fill(pages, `<< /Type /Pages /Kids [${kids.map((kid) => `${kid} 0 R`).join(' ')}] /Count ${count} >>`);
  return writer.finish(writer.add(`<< /Type /Catalog /Pages ${pages} 0 R >>`));
}
