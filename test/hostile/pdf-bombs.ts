/** PDF files with streams that decode to far more than a document needs. */
import { deflated, deflatedBlanks, deflatedBytes, pdf } from '#test/hostile/forge-pdf.ts';
import { lzwOfZeros, runsOfZeros } from '#test/hostile/pdf-zero-encoders.ts';
import type { HostileFile } from '#test/hostile/hostile-file.ts';

const MIB = 1024 ** 2;

/** Files that are refused before any tool opens them. */
export const PDF_BOMBS: readonly HostileFile[] = [
  {
    name: 'a PDF whose content decompresses to 600 MB',
    filename: 'a.pdf',
    bytes: () => pdf({ content: deflatedBlanks(600 * MIB) }),
    ends: ['processing_failed'],
    says: /decompresses to more than 67108864 bytes/,
  },
  {
    name: 'a PDF whose content is compressed twice and decompresses to 600 MB',
    filename: 'a.pdf',
    bytes: () => {
      const { data } = deflated(deflatedBlanks(600 * MIB).data);
      return pdf({ content: { entries: '/Filter [/FlateDecode /FlateDecode]', data } });
    },
    ends: ['processing_failed'],
    says: /decompresses to more than/,
  },
  {
    name: 'a PDF whose content decompresses to 600 MB by LZW',
    filename: 'a.pdf',
    bytes: () => pdf({ content: { entries: '/Filter /LZWDecode', data: lzwOfZeros(600 * MIB) } }),
    ends: ['processing_failed'],
    says: /decompresses to more than 67108864 bytes/,
  },
  {
    name: 'a PDF whose content decompresses to 600 MB through runs inside of Deflate inside of digits',
    filename: 'a.pdf',
    bytes: () => {
      const packed = deflated(runsOfZeros(600 * MIB)).data.toString('hex');
      const entries = '/Filter [/ASCIIHexDecode /FlateDecode /RunLengthDecode]';
      return pdf({ content: { entries, data: Buffer.from(`${packed}>`) } });
    },
    ends: ['processing_failed'],
    says: /decompresses to more than/,
  },
  {
    name: 'a PDF of a thousand streams that decompress to 1 MB each',
    filename: 'a.pdf',
    bytes: () => {
      const { entries, data } = deflatedBlanks(MIB);
      return pdf({
        more: (writer) => ({
          page: `/Private [${Array.from({ length: 1000 }, () => `${writer.addStream(entries, data)} 0 R`).join(' ')}]`,
        }),
      });
    },
    ends: ['processing_failed'],
    says: /decompresses to more than/,
  },
  {
    name: 'a PDF with an image of 4 pixels that decompresses to 200 MB',
    filename: 'a.pdf',
    bytes: () =>
      pdf({
        more: (writer) => {
          const { entries, data } = deflatedBlanks(200 * MIB);
          const image = `/Type /XObject /Subtype /Image /Width 2 /Height 2 /ColorSpace /DeviceGray /BitsPerComponent 8`;
          return { page: `/Private ${writer.addStream(`${image} ${entries}`, data)} 0 R` };
        },
      }),
    ends: ['processing_failed'],
    says: /An image of the PDF/,
  },
  {
    name: 'a PDF whose directory is a stream that decompresses to 600 MB',
    filename: 'a.pdf',
    bytes: () => {
      const { entries, data } = deflatedBytes(600 * MIB, 0);
      const head = `%PDF-1.7\n1 0 obj\n<< /Type /XRef /Size 2 /W [1 2 1] /Root 2 0 R ${entries} /Length ${data.length} >>\nstream\n`;
      return Buffer.concat([Buffer.from(head), data, Buffer.from('\nendstream\nendobj\nstartxref\n9\n%%EOF\n')]);
    },
    ends: ['processing_failed'],
    says: /decompresses to more than/,
  },
];
