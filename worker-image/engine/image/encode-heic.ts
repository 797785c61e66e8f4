import { access } from 'node:fs/promises';
import { join } from 'node:path';
import type { Sharp } from 'sharp';
import type { EngineDeps } from '#worker-image/engine/handler.ts';

interface HeicWork {
  readonly pipeline: () => Sharp;
  readonly path: string;
  /** heif-enc's own scale, 0 to 100. */
  readonly quality: number;
  readonly directory: string;
}

const ENCODE_SECONDS = 1800;

/** HEIC through heif-enc, which takes profile and EXIF from the PNG that it is given. */
export async function encodeHeic({ run, signal }: Pick<EngineDeps, 'run' | 'signal'>, work: HeicWork): Promise<void> {
  const png = join(work.directory, 'for-heic.png');
  await work.pipeline().png({ compressionLevel: 1 }).toFile(png);
  const { exitCode, stderr } = await run({
    file: 'heif-enc',
    args: ['-q', String(work.quality), '-p', 'preset=medium', '-o', work.path, png],
    directory: work.directory,
    signal,
    timeoutSeconds: ENCODE_SECONDS,
  });
  await access(work.path).catch((cause: unknown) => {
    throw new Error(`heif-enc ended with ${exitCode} and wrote nothing: ${stderr.slice(0, 500)}`, { cause });
  });
}
