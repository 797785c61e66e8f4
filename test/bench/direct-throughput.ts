/**
 * Full-size compress of a 12-megapixel photo through the engine's HTTP port beside the image library called in a
 * loop with the same settings: files a second, in alternating rounds.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import type { BareRun } from '#test/bench/bare-sharp.ts';
import { largePhoto } from '#test/bench/calibration-set.ts';
import { startDirectEngine, type DirectEngine } from '#test/bench/direct-engine.ts';
import { median, print } from '#test/bench/print-figures.ts';

const FORMATS = ['jpg', 'webp', 'avif'] as const;
const CALLERS = [1, 2, 4, 8];
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
const engines = {
  'one file a process': await startDirectEngine(folder),
  'fifty files a process': await startDirectEngine(folder, { MEDIAJOBS_ENGINE_FILES_PER_CHILD: '50' }),
};
try {
  for (const format of FORMATS) await compare(format);
} finally {
  await Promise.all(Object.values(engines).map((engine) => engine.stop()));
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
      for (const [name, engine] of Object.entries(engines))
        (all[name] ??= []).push(await throughput(engine, format, callers));
    }
    rounds.push(all);
  }
  for (const name of ['library', ...Object.keys(engines)]) {
    const figures = CALLERS.map((_, at) => median(rounds.map((all) => all[name]?.[at] ?? 0)));
    print(`  ${name}`, ...figures.map((figure) => figure.toFixed(2)), Math.max(...figures).toFixed(2));
  }
  for (const name of Object.keys(engines)) {
    const ratios = rounds.map((all) => Math.max(...(all[name] ?? [])) / Math.max(...(all['library'] ?? [])));
    print(`  ratio of the best, ${name} (goal: 0.9)`, median(ratios).toFixed(2));
  }
}

function filesFor(format: BareRun['format'], callers: number): number {
  return Math.max(format === 'avif' ? 2 : 6, callers * (format === 'avif' ? 1 : 2));
}

/** With one thread a file when there is a file for every core, else with all. */
async function bareThroughput(format: BareRun['format'], callers: number): Promise<number> {
  const threads = callers >= availableParallelism() ? 1 : availableParallelism();
  const run = { photo: photoPath, format, callers, files: filesFor(format, callers), quality: QUALITY, threads };
  bare.send(run satisfies BareRun);
  const [answer] = (await once(bare, 'message')) as [number];
  return answer;
}

async function throughput(engine: DirectEngine, format: BareRun['format'], callers: number): Promise<number> {
  const files = filesFor(format, callers);
  let left = files;
  const startedAt = performance.now();
  const caller = async (): Promise<void> => {
    for (; left > 0;) {
      left -= 1;
      const { result } = await engine.compress(photo, { image: { format, quality: QUALITY, resize: false } });
      if (result.kept_original) throw new Error('the engine gave the photo back as it was');
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  return (files * 1000) / (performance.now() - startedAt);
}
