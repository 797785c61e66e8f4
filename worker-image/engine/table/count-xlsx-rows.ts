import { openPromise } from 'yauzl';
import { SHEET_PART } from '#worker-image/engine/table/write-xlsx.ts';

/** Counts the rows of a workbook that `writeXlsx` wrote. @throws Error when the package cannot be read. */
export async function countXlsxRows(path: string): Promise<number> {
  const zip = await openPromise(path, { lazyEntries: true, autoClose: false });
  try {
    for await (const entry of zip.eachEntry()) {
      if (entry.fileName === SHEET_PART) return await countMarks(await zip.openReadStreamPromise(entry), '<row ');
    }
  } finally {
    zip.close();
  }
  throw new Error(`the package has no ${SHEET_PART}`);
}

/** Counts the occurrences of a mark, also across chunk boundaries. */
async function countMarks(stream: AsyncIterable<Buffer>, mark: string): Promise<number> {
  let [rows, rest] = [0, ''];
  for await (const chunk of stream) {
    const text = rest + chunk.toString('latin1');
    rows += text.split(mark).length - 1;
    rest = text.slice(Math.max(0, text.length - mark.length + 1));
  }
  return rows;
}
