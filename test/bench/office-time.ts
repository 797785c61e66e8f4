/** A document of 20 pages to PDF: the engine's first conversion, and LibreOffice alone on a profile that was used before. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runInEngine } from '#test/bench/engine-run.ts';
import { median, print } from '#test/bench/print-figures.ts';

const RUNS = 7;
const PAGES = 20;
const LINES_PER_PAGE = 40;

const folder = await mkdtemp(join(tmpdir(), 'mediajobs-bench-'));
try {
  const text = join(folder, 'pages.txt');
  await writeFile(text, pages());
  // Makes the document, and the profile.
  await soffice('docx:MS Word 2007 XML', text);
  const document = join(folder, 'pages.docx');
  const ratios = [];
  print('docx to pdf, seconds', 'engine', 'soffice', 'ratio');
  for (let run = 0; run < RUNS; run += 1) {
    const bare = await soffice('pdf', document);
    const engine = await runInEngine({ path: document, operation: 'convert', options: { convert: { to: 'pdf' } } });
    ratios.push(engine.seconds / bare);
    print(`  ${PAGES} pages`, engine.seconds.toFixed(2), bare.toFixed(2), (engine.seconds / bare).toFixed(2));
  }
  print('median of the ratios (goal: at most 1.10)', '', '', median(ratios).toFixed(2));
} finally {
  await rm(folder, { recursive: true });
}

function pages(): string {
  const lines = Array.from(
    { length: PAGES * LINES_PER_PAGE },
    (_, line) => `Line ${line} of a document with many words.`,
  );
  return lines.join('\n');
}

async function soffice(target: string, path: string): Promise<number> {
  const startedAt = performance.now();
  const profile = `-env:UserInstallation=file://${folder}/profile`;
  const child = spawn('soffice', [profile, '--headless', '--convert-to', target, '--outdir', folder, path], {
    stdio: 'ignore',
  });
  await once(child, 'exit');
  return (performance.now() - startedAt) / 1000;
}
