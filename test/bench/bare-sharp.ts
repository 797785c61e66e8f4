/** The image library alone, in its own process. Prints files per second for a photo, a format and a number of callers. */
import { readFile } from 'node:fs/promises';
import sharp, { type Sharp } from 'sharp';
import { avifSettings, effortsOf } from '#worker-image/engine/image/encode/encode-avif.ts';
import { jpegSettings } from '#worker-image/engine/image/encode/encode-jpeg.ts';
import { webpSettings } from '#worker-image/engine/image/encode/encode-webp.ts';
import { encoderQuality } from '#worker-image/engine/image/encode/quality-scale.ts';

export interface BareRun {
  readonly photo: string;
  readonly format: 'jpg' | 'webp' | 'avif';
  readonly callers: number;
  readonly files: number;
  readonly quality: number;
  /** Number of threads of the library for one file. */
  readonly threads: number;
}

sharp.cache(false);
process.on('message', (run: BareRun) => void respond(run));

async function respond(run: BareRun): Promise<void> {
  sharp.concurrency(run.threads);
  const photo = await readFile(run.photo);
  let left = run.files;
  const startedAt = performance.now();
  const caller = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      await encode(sharp(photo).autoOrient(), run).toBuffer();
    }
  };
  await Promise.all(Array.from({ length: run.callers }, caller));
  process.send?.((run.files * 1000) / (performance.now() - startedAt));
}

function encode(picture: Sharp, { format, quality }: BareRun): Sharp {
  const look = { quality, content: 'photo', encoders: encoderQuality(quality, 'photo') } as const;
  switch (format) {
    case 'jpg':
      return picture.jpeg(jpegSettings(look));
    case 'webp':
      return picture.webp(webpSettings(look));
    case 'avif':
      return picture.avif(avifSettings(look, { effort: effortsOf(12_000_000).smooth, bitdepth: 8 }));
  }
}
