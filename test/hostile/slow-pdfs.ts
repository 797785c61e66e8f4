/** Small PDF files that take long, because they draw or read the same objects many times. */
import { deflated, pdf } from '#test/hostile/forge-pdf.ts';
import { PdfWriter } from '#worker-image/engine/containers/pdf-writer.ts';

interface SlowPdf {
  readonly name: string;
  readonly bytes: () => Buffer;
}

const stream = (text: string) => deflated(Buffer.from(text));

export const SLOW_PDFS: readonly SlowPdf[] = [
  { name: 'forms that draw each other ten times, nine levels deep', bytes: () => nestedForms({ levels: 9, each: 10 }) },
  { name: 'a pattern whose tile of a thousandth of a point draws a page of forms', bytes: patternOfSmallSteps },
  { name: 'a shading by a function of a million operations', bytes: slowFunction },
  { name: 'two thousand pages that share one page of nested forms', bytes: sharedPages },
];

/** Returns a page with nested forms, each of which draws the next one many times. The last one draws a curve. */
function nestedForms({ levels, each }: { levels: number; each: number }): Buffer {
  return pdf({
    content: stream('/X Do'),
    more: (writer) => ({ page: `/Resources << /XObject << /X ${formOf(writer, levels, each)} 0 R >> >>` }),
  });
}

function formOf(writer: PdfWriter, levels: number, each: number): number {
  const head = '/Type /XObject /Subtype /Form /BBox [0 0 612 792]';
  if (levels === 0) {
    const { entries, data } = stream('0 0 m 100 700 500 100 612 792 c S');
    return writer.addStream(`${head} ${entries}`, data);
  }
  const inner = formOf(writer, levels - 1, each);
  const { entries, data } = stream('q 1 0 0 1 1 0 cm /X Do Q\n'.repeat(each));
  return writer.addStream(`${head} /Resources << /XObject << /X ${inner} 0 R >> >> ${entries}`, data);
}

function patternOfSmallSteps(): Buffer {
  return pdf({
    content: stream('/Pattern cs /P scn 0 0 612 792 re f'),
    more: (writer) => {
      const inner = formOf(writer, 3, 10);
      const { entries, data } = stream('/X Do');
      const head =
        '/Type /Pattern /PatternType 1 /PaintType 1 /TilingType 1 /BBox [0 0 600 700] /XStep 0.001 /YStep 0.001';
      const pattern = writer.addStream(`${head} /Resources << /XObject << /X ${inner} 0 R >> >> ${entries}`, data);
      return { page: `/Resources << /Pattern << /P ${pattern} 0 R >> >>` };
    },
  });
}

function slowFunction(): Buffer {
  return pdf({
    content: stream('/S sh\n'.repeat(200)),
    more: (writer) => {
      const { entries, data } = stream(`{ ${'2 copy mul sin exch pop '.repeat(20_000)} pop dup dup }`);
      const calculator = writer.addStream(`/FunctionType 4 /Domain [0 1 0 1] /Range [0 1 0 1 0 1] ${entries}`, data);
      const shading = `<< /ShadingType 1 /ColorSpace /DeviceRGB /Domain [0 1 0 1] /Matrix [612 0 0 792 0 0] /Function ${calculator} 0 R >>`;
      return { page: `/Resources << /Shading << /S ${writer.add(shading)} 0 R >> >>` };
    },
  });
}

function sharedPages(): Buffer {
  const writer = new PdfWriter();
  const pages = writer.reserve();
  const form = formOf(writer, 4, 10);
  const { entries, data } = stream('/X Do');
  const content = writer.addStream(entries, data);
  const only = writer.add(
    `<< /Type /Page /Parent ${pages} 0 R /MediaBox [0 0 612 792] /Resources << /XObject << /X ${form} 0 R >> >> /Contents ${content} 0 R >>`,
  );
  writer.fill(pages, `<< /Type /Pages /Kids [${`${only} 0 R `.repeat(2000)}] /Count 2000 >>`);
  return writer.finish(writer.add(`<< /Type /Catalog /Pages ${pages} 0 R >>`));
}
