/** Real PDFs made smaller: bytes, seconds, and what each result lost. */
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fetchPdfSamples } from '#test/bench/pdf-samples.ts';
import { ssimulacra2, type Score } from '#test/bench/ssimulacra2.ts';
import { engineDeps, workOn } from '#test/fixtures/engine-work.ts';
import type { Work } from '#worker-image/engine/handler.ts';
import { compareStructure } from '#worker-image/engine/pdf/compare-structure.ts';
import { startBenchService, type BenchService } from '../bench-service.ts';
import { OURS } from '../measured.ts';
import type { ReadyPeers } from '../prepare-peers.ts';
import { Samples, type Bench, type CaseFigures, type Row } from '../row.ts';
import { runProgram } from '../run-program.ts';

const CASES = [
  'paper, 14 pages, drawings',
  'slides with photos',
  'journal article',
  'word-processor page',
  'scan, grey, 2 pages',
  'scan, 1 page',
  'tax form, tagged',
  'form',
  'web page with a picture',
  'catalogue page',
];

export const pdf: Row = {
  title: 'PDFs made smaller',
  about: `The service at its default tier, as a direct request over HTTPS; the others as programs that are started for the file, at the
settings named. All results are compared with the input in the same way: pages, outline, links, form fields, tags,
attachments, text, and small renderings of the pages. Lost parts are listed; a result that lost something does not
count as equal, nor does one whose pages, rendered with 100 dpi, are less similar to the input's (SSIMULACRA2, the lowest of the
first three).`,
  peers: ['Ghostscript', 'qpdf', 'pikepdf', 'OCRmyPDF'],
  columns: [
    { title: 'bytes', metrics: ['bytes'], digits: 0, ratio: true },
    { title: 'seconds', metrics: ['seconds'], digits: 2, noise: true, ratio: true },
    { title: 'SSIMULACRA2', metrics: ['score'], digits: 1 },
  ],
  front: { speed: { metrics: ['seconds'], better: 'less' }, size: 'bytes', similarity: 'score' },
  cases: CASES,
  measure,
};

interface Compressor {
  readonly who: string;
  /** Returns the seconds. */
  readonly compress: (input: string, output: string) => Promise<number>;
}

async function* measure(bench: Bench): AsyncGenerator<CaseFigures> {
  const samples = await fetchPdfSamples(bench.folder);
  const score = await ssimulacra2(bench.cache);
  const service = await startBenchService(bench.folder);
  const compressors = [ours(service), ...peers(bench.peers)];
  try {
    for (const { what, path } of samples) {
      if (!bench.wanted(what)) continue;
      bench.say(what);
      yield { name: what, ...(await measureFile(bench, { path, compressors, score })) };
    }
  } finally {
    await service.stop();
  }
}

async function measureFile(
  bench: Bench,
  { path, compressors, score }: { path: string; compressors: readonly Compressor[]; score: Score },
): Promise<Omit<CaseFigures, 'name'>> {
  const samples = new Samples();
  const remarks: Record<string, string> = {};
  const work = await workOn({ path, format: 'pdf', operation: 'compress' });
  samples.add('the input', 'bytes', work.input.size);
  const output = join(work.directory, 'made.pdf');
  for (let round = 0; round < bench.rounds; round += 1)
    for (const { who, compress } of compressors) {
      if (remarks[who]?.startsWith('cannot') === true) continue;
      const seconds = await compress(path, output).catch((error: unknown) => String(error));
      if (typeof seconds === 'string') {
        remarks[who] = `cannot do it (${seconds.slice(0, 120).replaceAll(/\s+/g, ' ')})`;
        continue;
      }
      samples.add(who, 'seconds', seconds);
      if (round > 0) continue;
      samples.add(who, 'bytes', (await stat(output)).size);
      samples.add(who, 'score', await similarityOf(score, work, output));
      const lost = await lostParts(work, output);
      if (lost !== '') remarks[who] = `lost: ${lost}`;
    }
  return { figures: samples.figures, remarks };
}

async function lostParts(work: Work, output: string): Promise<string> {
  const lost = await compareStructure(engineDeps(), work, output);
  return [...new Set(lost.map((line) => line.split(':', 1)[0] ?? ''))].join(', ');
}

const DRAWN_PAGES = 3;

/** Of the page that suffered most; 0 when the two do not have the same pages. */
async function similarityOf(score: Score, { input, directory }: Work, output: string): Promise<number> {
  const [before, after] = [
    await drawPages(input.path, join(directory, 'before')),
    await drawPages(output, join(directory, 'after')),
  ];
  if (before.length !== after.length) return 0;
  const scores = await Promise.all(before.map((page, at) => score(page, after[at] ?? '').catch(() => 0)));
  return Math.min(...scores);
}

async function drawPages(path: string, prefix: string): Promise<string[]> {
  await runProgram('pdftoppm', ['-png', '-r', '100', '-l', String(DRAWN_PAGES), path, prefix]);
  const names = await readdir(dirname(prefix));
  const own = names.filter((name) => name.startsWith(`${basename(prefix)}-`)).toSorted();
  return own.map((name) => join(dirname(prefix), name));
}

function ours({ api }: BenchService): Compressor {
  return {
    who: OURS,
    compress: async (input, output) => {
      const body = await readFile(input);
      const startedAt = performance.now();
      const response = await api('POST', '/v1/compress', { body });
      const seconds = (performance.now() - startedAt) / 1000;
      if (response.status !== 200) throw new Error(`${response.status} ${response.bytes.toString()}`);
      await writeFile(output, response.bytes);
      return seconds;
    },
  };
}

const PIKEPDF = `import pikepdf, sys
with pikepdf.open(sys.argv[1]) as pdf:
    pdf.remove_unreferenced_resources()
    pdf.save(sys.argv[2], compress_streams=True, recompress_flate=True, object_stream_mode=pikepdf.ObjectStreamMode.generate)`;

function peers(ready: ReadyPeers): Compressor[] {
  const python = (name: 'pikepdf' | 'OCRmyPDF', file: string): string =>
    join(ready.get(name)?.folder ?? '', 'bin', file);
  const ghostscript = (tier: string): Compressor => ({
    who: `Ghostscript ${tier}`,
    compress: (input, output) => {
      const args = ['-q', '-dSAFER', '-dBATCH', '-dNOPAUSE', '-sDEVICE=pdfwrite', `-dPDFSETTINGS=${tier}`];
      return runProgram('gs', [...args, `-sOutputFile=${output}`, input]);
    },
  });
  return [
    ghostscript('/ebook'),
    ghostscript('/screen'),
    {
      who: 'qpdf --object-streams=generate --recompress-flate',
      compress: (input, output) =>
        runProgram('qpdf', ['--object-streams=generate', '--recompress-flate', '--compression-level=9', input, output]),
    },
    {
      who: 'pikepdf',
      compress: (input, output) => runProgram(python('pikepdf', 'python'), ['-c', PIKEPDF, input, output]),
    },
    {
      who: 'OCRmyPDF -O2, no OCR',
      compress: (input, output) =>
        runProgram(python('OCRmyPDF', 'ocrmypdf'), [
          '--quiet',
          '--ocr-engine',
          'none',
          '--skip-text',
          '--optimize',
          '2',
          '--output-type',
          'pdf',
          input,
          output,
        ]),
    },
  ];
}
