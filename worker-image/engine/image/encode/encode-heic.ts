import { access } from 'node:fs/promises';
import { join } from 'node:path';
import type { Sharp } from 'sharp';
import type { EngineDeps } from '#worker-image/engine/handler.ts';

interface HeicEncoding {
  readonly pipeline: () => Sharp;
  readonly path: string;
  /** heif-enc's own scale, 0 to 100. */
  readonly quality: number;
  readonly directory: string;
}

const ENCODE_SECONDS = 1800;

/** Writes HEIC with heif-enc, which copies profile and EXIF from its input PNG. */
export async function encodeHeic(
  { run, signal }: Pick<EngineDeps, 'run' | 'signal'>,
  encoding: HeicEncoding,
): Promise<void> {
  const png = join(encoding.directory, 'for-heic.png');
  await encoding.pipeline().png({ compressionLevel: 1 }).toFile(png);
  const { exitCode, stderr } = await run({
    file: 'heif-enc',
    args: ['-q', String(encoding.quality), '-p', 'preset=medium', '-o', encoding.path, png],
    directory: encoding.directory,
    signal,
    timeoutSeconds: ENCODE_SECONDS,
  });
  await access(encoding.path).catch((cause: unknown) => {
    throw new Error(`heif-enc exited with ${exitCode} and wrote no output: ${stderr.slice(0, 500)}`, { cause });
  });
}
