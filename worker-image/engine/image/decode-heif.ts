/** HEIC, and AVIF of many pixels, through the program of libvips. */
import { access } from 'node:fs/promises';
import type { EngineDeps } from '#worker-image/engine/handler.ts';

interface Heif {
  readonly path: string;
  readonly directory: string;
  readonly timeoutSeconds: number;
}

/**
 * An uncompressed TIFF at the path, turned upright, with profile, EXIF and XMP. The loader is named: libvips' guessing
 * would fall back to others. Read in sequence, or a picture of more than 100 MB takes a way on which it is turned and
 * still says that it has to be. Gives null, or what the program says of a file that does not decode.
 */
export async function decodeHeif(
  { run, signal }: Pick<EngineDeps, 'run' | 'signal'>,
  { path, directory, timeoutSeconds }: Heif,
  to: string,
): Promise<string | null> {
  const args = ['heifload', path, `${to}[compression=none]`, '--access', 'sequential'];
  const env = { VIPS_BLOCK_UNTRUSTED: '1' };
  const { stderr } = await run({ file: 'vips', args, directory, signal, timeoutSeconds, env });
  return access(to).then(
    () => null,
    () => stderr.slice(0, 500),
  );
}
