/**
 * Full-size compress of a 12-megapixel photo through the engine's HTTP port beside the image library called in a
 * loop with the same settings: files a second, in alternating rounds. Callers of one account share processes of the
 * engine; with an account for each file every file has a process of its own.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import type { BareRun } from '#test/bench/bare-sharp.ts';
import { largePhoto } from '#test/bench/calibration-set.ts';
import { startDirectEngine } from '#test/bench/direct-engine.ts';
import { median, print } from '#test/bench/print-figures.ts';

/** One takes two minutes, AVIF twice that: `MEDIAJOBS_BENCH_FORMAT` names one. */
const FORMATS = (['jpg', 'webp', 'avif'] as const).filter(
  (format) => format === (process.env['MEDIAJOBS_BENCH_FORMAT'] ?? format),
);
const CALLERS = [1, 2, 4];
const ROUNDS = 3;
const QUALITY = 75;

const cache = process.env['MEDIAJOBS_BENCH_CACHE'] ?? join(homedir(), '.cache', 'mediajobs-bench');
const folder = await mkdtemp(join(tmpdir(), 'mediajobs-bench-'));
await mkdir(cache, { recursive: true });
const photo = await sharp(await largePhoto(cache))
  .resize(4000, 3000, { fit: 'cover' })
  .jpeg({ quality: 92 })
  .toBuffer();
const photoPath = join(folder, 'photo.jpg');
await writeFile(photoPath, photo);
const bare = fork(new URL('./bare-sharp.ts', import.meta.url).pathname);
const engine = await startDirectEngine(folder);
const TENANTS: Readonly<Record<string, (file: number) => string>> = {
  'one account': () => 'one',
  'an account a file': (file) => `${file}-${performance.now()}`,
};
try {
  for (const format of FORMATS) await compare(format);
} finally {
  await engine.stop();
  bare.kill();
  await rm(folder, { recursive: true });
}

async function compare(format: BareRun['format']): Promise<void> {
  print(`${format}, files a second`, ...CALLERS.map((callers) => `${callers} at once`), 'best');
  const rounds: Record<string, number[]>[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const all: Record<string, number[]> = { library: [] };
    for (const callers of CALLERS) {
      all['library']?.push(await bareThroughput(format, callers));
      for (const [name, tenantOf] of Object.entries(TENANTS))
        (all[name] ??= []).push(await throughput(tenantOf, format, callers));
    }
    rounds.push(all);
  }
  for (const name of ['library', ...Object.keys(TENANTS)]) {
    const figures = CALLERS.map((_, at) => median(rounds.map((all) => all[name]?.[at] ?? 0)));
    print(`  ${name}`, ...figures.map((figure) => figure.toFixed(2)), Math.max(...figures).toFixed(2));
  }
  for (const name of Object.keys(TENANTS)) {
    const ratios = rounds.map((all) => Math.max(...(all[name] ?? [])) / Math.max(...(all['library'] ?? [])));
    print(`  ratio of the best, ${name} (goal: 0.9)`, median(ratios).toFixed(2));
  }
}

function filesFor(format: BareRun['format']): number {
  return format === 'avif' ? 6 : 16;
}

/** Returns the throughput of the library: one thread per file when there is a file for every core, otherwise all threads. */
async function bareThroughput(format: BareRun['format'], callers: number): Promise<number> {
  const threads = callers >= availableParallelism() ? 1 : availableParallelism();
  const run = { photo: photoPath, format, callers, files: filesFor(format), quality: QUALITY, threads };
  bare.send(run satisfies BareRun);
  const [response] = (await once(bare, 'message')) as [number];
  return response;
}

async function throughput(
  tenantOf: (file: number) => string,
  format: BareRun['format'],
  callers: number,
): Promise<number> {
  const work = async (files: number): Promise<void> => {
    let left = files;
    const caller = async (): Promise<void> => {
      for (; left > 0;) {
        left -= 1;
        const options = { image: { format, quality: QUALITY, resize: false } };
        const { result } = await engine.compress(photo, options, tenantOf(left));
        if (result.kept_original) throw new Error('the engine returned the photo unchanged');
      }
    };
    await Promise.all(Array.from({ length: callers }, caller));
  };
  // Callers who have been at it for a while: the engine's idle processes end within seconds.
  await work(callers);
  const startedAt = performance.now();
  await work(filesFor(format));
  return (filesFor(format) * 1000) / (performance.now() - startedAt);
}
