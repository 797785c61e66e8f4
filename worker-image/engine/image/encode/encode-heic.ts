import { access } from 'node:fs/promises';
import { join } from 'node:path';
import type { Encoder } from '#worker-image/engine/image/encode/encoder.ts';
import { lossyQuality } from '#worker-image/engine/image/encode/quality-scale.ts';

const ENCODE_SECONDS = 1800;

/** Writes HEIC with heif-enc, which copies profile and EXIF from its input PNG. */
export const encodeHeic: Encoder = async ({ run, signal }, { picture, source, quality, pipeline, path }) => {
  const { encoders } = await lossyQuality(source, quality);
  const { directory } = picture.file;
  const png = join(directory, 'for-heic.png');
  await pipeline().png({ compressionLevel: 1 }).toFile(png);
  const { exitCode, stderr } = await run({
    file: 'heif-enc',
    args: ['-q', String(encoders.heic), '-p', 'preset=medium', '-o', path, png],
    directory,
    signal,
    timeoutSeconds: ENCODE_SECONDS,
  });
  await access(path).catch((cause: unknown) => {
    throw new Error(`heif-enc exited with ${exitCode} and wrote no output: ${stderr.slice(0, 500)}`, { cause });
  });
  return null;
};
