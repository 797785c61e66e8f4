/** Peak memory of the engine for one image of 100 megapixels, by format. */
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp, { type Sharp } from 'sharp';
import { runInEngine } from '#test/bench/engine-run.ts';
import { print } from '#test/bench/print-figures.ts';

const SIDE = 10_000;
const WRITTEN: Readonly<Record<string, (from: Sharp) => Sharp>> = {
  jpg: (from) => from.jpeg({ quality: 90 }),
  png: (from) => from.png({ compressionLevel: 1 }),
  webp: (from) => from.webp({ effort: 0 }),
  tiff: (from) => from.tiff({ compression: 'lzw' }),
  avif: (from) => from.avif({ effort: 0 }),
};

const folder = await mkdtemp(join(tmpdir(), 'mediajobs-bench-'));
try {
  print('100 megapixels (goal: at most 1536)', 'input MiB', 'MiB', 'seconds');
  for (const [format, encode] of Object.entries(WRITTEN)) {
    const path = join(folder, `picture.${format}`);
    await encode(picture()).toFile(path);
    const { size } = await stat(path);
    for (const resize of [false, true]) {
      const { peakMib, seconds } = await runInEngine({
        path,
        operation: 'compress',
        options: { image: { resize } },
        watchesMemory: true,
      });
      const name = `${format}, ${resize ? 'to 2000 pixels' : 'full size'}`;
      print(name, (size / 1024 ** 2).toFixed(0), peakMib.toFixed(0), seconds.toFixed(0));
    }
    await rm(path);
  }
} finally {
  await rm(folder, { recursive: true });
}

/** Structure and a little grain. */
function picture(): Sharp {
  const noise = { type: 'gaussian', mean: 128, sigma: 40 } as const;
  const create = { width: 625, height: 625, channels: 3, background: '#88a', noise } as const;
  return sharp({ create }).resize(SIDE, SIDE, { kernel: 'cubic' });
}
