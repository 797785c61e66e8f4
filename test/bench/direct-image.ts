/** A 12-megapixel JPEG through the direct lane, and through sharp alone with the same settings. */
import { availableParallelism } from 'node:os';
import sharp from 'sharp';
import type { ApiClient } from '#test/support/api-client.ts';

export interface ImageTimes {
  /** Milliseconds. */
  readonly direct: number;
  readonly bare: number;
}

// As the engine has it; sharp's own choice is one thread.
sharp.concurrency(Math.min(4, availableParallelism()));
sharp.cache(false);

/** Returns an image with the structure and grain of a photo. */
export function makePhoto(): Promise<Buffer> {
  const grain = { type: 'gaussian', mean: 128, sigma: 40 } as const;
  return sharp({ create: { width: 500, height: 375, channels: 3, background: '#88a', noise: grain } })
    .resize(4000, 3000, { kernel: 'cubic' })
    .jpeg({ quality: 92 })
    .toBuffer();
}

/** @throws Error when the two did not do the same work. */
export async function timeImage(api: ApiClient, photo: Buffer): Promise<ImageTimes> {
  const bare = await timed(() =>
    sharp(photo).autoOrient().jpeg({ quality: 75, mozjpeg: true, chromaSubsampling: '4:2:0' }).toBuffer(),
  );
  const direct = await timed(async () => {
    const { status, bytes } = await api('POST', '/v1/compress?image.resize=false&image.quality=75', { body: photo });
    if (status !== 200) throw new Error(`the direct request was answered with ${status}`);
    return bytes;
  });
  const [made, expected] = await Promise.all([sharp(direct.bytes).metadata(), sharp(bare.bytes).metadata()]);
  if (
    made.width !== expected.width ||
    made.height !== expected.height ||
    Math.abs(direct.bytes.length / bare.bytes.length - 1) > 0.02
  ) {
    throw new Error(
      `not the same work: ${made.width}x${made.height}, ${direct.bytes.length} bytes; alone ${expected.width}x${expected.height}, ${bare.bytes.length} bytes`,
    );
  }
  return { direct: direct.ms, bare: bare.ms };
}

async function timed(work: () => Promise<Buffer>): Promise<{ ms: number; bytes: Buffer }> {
  const startedAt = performance.now();
  const bytes = await work();
  return { ms: performance.now() - startedAt, bytes };
}
