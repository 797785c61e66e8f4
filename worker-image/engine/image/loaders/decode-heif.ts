/** HEIC and large AVIF, decoded by the program of libvips. */
import { access } from 'node:fs/promises';
import type { DecoderDeps } from '#worker-image/engine/image/picture.ts';

interface HeifDecoding {
  readonly path: string;
  readonly directory: string;
  readonly timeoutSeconds: number;
}

/**
 * Writes an uncompressed TIFF, upright, with profile, EXIF and XMP. Returns null, or the program's error text for a file
 * that does not decode. The loader is named, as libvips would try others. Access is sequential: above 100 MB libvips
 * otherwise rotates the pixels but keeps the orientation tag, so viewers would rotate twice.
 */
export async function decodeHeif(
  { run, signal }: DecoderDeps,
  { path, directory, timeoutSeconds }: HeifDecoding,
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
