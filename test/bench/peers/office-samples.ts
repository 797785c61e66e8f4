/** Documents of a usual size, made by LibreOffice out of flat OpenDocument and CSV. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { flatDocument } from '#test/fixtures/make-office-fixtures.ts';
import { runProgram } from './run-program.ts';

const PAGES = 20;
const PARAGRAPHS_PER_PAGE = 8;
const ROWS = 2000;
const SLIDES = 20;
const WORDS = 'Many words make up a document that somebody wrote for somebody else to read in the evening.';

/** Generates the documents and returns their paths by the name of the case. */
export async function makeOfficeSamples(folder: string): Promise<Record<string, string>> {
  return {
    'docx of 20 pages': await makeReport(folder, PAGES),
    'xlsx of 2,000 rows': await makeOrders(folder, ROWS),
    'pptx of 20 slides': await save(folder, { name: 'talk.pptx', source: 'talk.fodp', text: talk() }),
  };
}

/** Generates a document of that many pages and returns its path. */
export function makeReport(folder: string, pages: number): Promise<string> {
  return save(folder, { name: 'report.docx', source: 'report.fodt', text: report(pages) });
}

/** Generates a spreadsheet of that many rows and returns its path. */
export function makeOrders(folder: string, rows: number): Promise<string> {
  return save(folder, { name: 'orders.xlsx', source: 'orders.csv', text: orders(rows) });
}

const FILTERS: Readonly<Record<string, string>> = {
  docx: 'docx:MS Word 2007 XML',
  xlsx: 'xlsx:Calc MS Excel 2007 XML',
  pptx: 'pptx:Impress MS PowerPoint 2007 XML',
};

async function save(
  folder: string,
  { name, source, text }: { name: string; source: string; text: string },
): Promise<string> {
  const path = join(folder, source);
  await writeFile(path, text);
  const filter = FILTERS[name.split('.').at(-1) ?? ''] ?? '';
  const profile = `-env:UserInstallation=file://${folder}/sample-profile`;
  await runProgram('soffice', [profile, '--headless', '--convert-to', filter, '--outdir', folder, path]);
  return join(folder, name);
}

function report(pages: number): string {
  const paragraph = `<text:p>${Array.from({ length: 5 }, () => WORDS).join(' ')}</text:p>`;
  const chapters = Array.from(
    { length: pages },
    (_, at) => `<text:h text:outline-level="1">Chapter ${at + 1}</text:h>${paragraph.repeat(PARAGRAPHS_PER_PAGE)}`,
  );
  return flatDocument('text', chapters.join(''));
}

function orders(rows: number): string {
  const lines = Array.from(
    { length: rows },
    (_, at) => `${at},Customer ${at % 97},2026-01-${(at % 28) + 1},${at * 3}.50,"${WORDS.slice(0, 30)}"`,
  );
  return ['id,customer,day,amount,note', ...lines].join('\n');
}

function talk(): string {
  const slides = Array.from(
    { length: SLIDES },
    (_, at) =>
      `<draw:page draw:name="p${at}"><draw:frame svg:x="1cm" svg:y="1cm" svg:width="20cm" svg:height="12cm"><draw:text-box><text:p>Slide ${at + 1}</text:p><text:p>${WORDS}</text:p><text:p>${WORDS}</text:p></draw:text-box></draw:frame></draw:page>`,
  );
  return flatDocument('presentation', slides.join(''));
}
