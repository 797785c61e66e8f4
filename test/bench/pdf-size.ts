/** PDFs compressed by the middle tier and by Ghostscript's /ebook: bytes, seconds, and what each lost. */
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fetchPdfSamples } from '#test/bench/pdf-samples.ts';
import { median, print } from '#test/bench/print-figures.ts';
import { engineDeps, workOn } from '#test/fixtures/engine-work.ts';
import type { Work } from '#worker-image/engine/handler.ts';
import { compareStructure } from '#worker-image/engine/pdf/compare-structure.ts';
import { pdfHandler } from '#worker-image/engine/pdf/pdf-handler.ts';

interface Made {
  readonly bytes: number;
  readonly seconds: number;
  /** Names of lost content. */
  readonly lost: string;
}

const deps = engineDeps();
const folder = await mkdtemp(join(tmpdir(), 'mediajobs-bench-'));
try {
  print('PDF, tier medium', 'bytes', 'ours', '/ebook', 'ratio', 'seconds', 'gs');
  const ratios = [];
  const sizes: { ours: number; theirs: number }[] = [];
  for (const { what, path } of await fetchPdfSamples(folder)) {
    const work = await workOn({ path, format: 'pdf', operation: 'compress' });
    const [ours, theirs] = [await compress(work), await ghostscript(work)];
    const bytes = [work.input.size, ours.bytes, theirs.bytes].map(String);
    const ratio = ours.bytes / theirs.bytes;
    ratios.push(ratio);
    sizes.push({ ours: ours.bytes, theirs: theirs.bytes });
    print(what, ...bytes, ratio.toFixed(2), ours.seconds.toFixed(1), theirs.seconds.toFixed(1));
    if (ours.lost !== '') print(`  lost: ${ours.lost}`);
    if (theirs.lost !== '') print(`  Ghostscript lost: ${theirs.lost}`);
    await rm(work.directory, { recursive: true });
  }
  const [ours, theirs] = [median(sizes.map((one) => one.ours)), median(sizes.map((one) => one.theirs))];
  print('median of the sizes (goal: at most 1.00)', '', String(ours), String(theirs), (ours / theirs).toFixed(2));
  print('median of the ratios', '', '', '', median(ratios).toFixed(2));
} finally {
  await rm(folder, { recursive: true });
}

async function compress(work: Work): Promise<Made> {
  const startedAt = performance.now();
  const facts = await pdfHandler.inspect(deps, work);
  const made = await pdfHandler.compress?.(deps, work, facts);
  if (made === undefined) throw new Error('the pdf handler does not compress');
  return madeOf(work, made.path, startedAt);
}

async function ghostscript(work: Work): Promise<Made> {
  const path = join(work.directory, 'ghostscript.pdf');
  const startedAt = performance.now();
  const args = ['-q', '-dSAFER', '-dBATCH', '-dNOPAUSE', '-sDEVICE=pdfwrite', '-dPDFSETTINGS=/ebook'];
  await deps.run({
    file: 'gs',
    args: [...args, `-sOutputFile=${path}`, work.input.path],
    directory: work.directory,
    signal: deps.signal,
    timeoutSeconds: 600,
  });
  return madeOf(work, path, startedAt);
}

async function madeOf(work: Work, path: string, startedAt: number): Promise<Made> {
  const seconds = (performance.now() - startedAt) / 1000;
  const lost = await compareStructure(deps, work, path);
  const names = lost.map((line) => line.slice(0, Math.max(0, line.indexOf(':'))));
  return { bytes: (await stat(path)).size, seconds, lost: names.join(', ') };
}
