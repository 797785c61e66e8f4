/** 5,000 small mixed files through one engine of the direct lane: its memory after each 500. */
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import type { SentOptions } from '#crds/options/options.ts';
import { startDirectEngine } from '#test/bench/direct-engine.ts';
import { print } from '#test/bench/print-figures.ts';

const FILES = 5000;
const STEP = 500;
const CALLERS = 4;

const folder = await mkdtemp(join(tmpdir(), 'mediajobs-bench-'));
const files = await makeFiles();
const engine = await startDirectEngine(folder);
try {
  print('files', 'engine MiB', 'seconds');
  for (let done = 0; done < FILES; done += STEP) {
    const startedAt = performance.now();
    let next = done;
    const caller = async (): Promise<void> => {
      for (; next < done + STEP;) {
        const [file, options] = files[next++ % files.length] ?? [];
        if (file !== undefined) await engine.compress(file, options ?? {});
      }
    };
    await Promise.all(Array.from({ length: CALLERS }, caller));
    const seconds = (performance.now() - startedAt) / 1000;
    print(String(done + STEP), mebibytes(engine.pid).toFixed(0), seconds.toFixed(0));
  }
} finally {
  await engine.stop();
  await rm(folder, { recursive: true });
}

/** Of the process that stays; those that decode end with their file. */
function mebibytes(pid: number): number {
  return Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1] ?? 0) / 1024;
}

async function makeFiles(): Promise<[Buffer, SentOptions][]> {
  const noise = { type: 'gaussian', mean: 128, sigma: 40 } as const;
  const picture = sharp({ create: { width: 320, height: 240, channels: 3, background: '#456', noise } });
  const [jpg, png, webp, gif, tiff] = await Promise.all([
    picture.clone().jpeg({ quality: 95 }).toBuffer(),
    picture.clone().png().toBuffer(),
    picture.clone().webp({ quality: 95 }).toBuffer(),
    picture.clone().gif().toBuffer(),
    picture.clone().tiff().toBuffer(),
  ]);
  const to = (format: 'webp' | 'avif' | 'png'): SentOptions => ({ image: { format } });
  return [
    [jpg, {}],
    [png, {}],
    [webp, {}],
    [gif, to('webp')],
    [tiff, to('png')],
    [jpg, to('avif')],
  ];
}
