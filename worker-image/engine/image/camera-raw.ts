/** Camera RAW through the programs of LibRaw. */
import { access, symlink } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { MediaError } from '#crds/media-error.ts';
import type { EngineDeps } from '#worker-image/engine/handler.ts';
import type { Size } from '#worker-image/engine/image/resize-image.ts';

interface RawFile {
  readonly path: string;
  /** Private directory for tools. */
  readonly directory: string;
}

/** As developed; nothing is decoded. @throws MediaError processing_failed when its headers cannot be read. */
export async function readRawSize(
  { run, signal }: Pick<EngineDeps, 'run' | 'signal'>,
  { path, directory }: RawFile,
): Promise<Size> {
  const { stdout } = await run({
    file: 'raw-identify',
    args: ['-v', path],
    directory,
    signal,
    timeoutSeconds: 20,
  });
  const size = /^Output size:\s+(\d+) x (\d+)/m.exec(stdout);
  if (size === null) throw refusal();
  return { width: Number(size[1]), height: Number(size[2]) };
}

/**
 * Gives the path of a TIFF. dcraw_emu writes beside its input and reports success for files that it cannot read.
 * @throws MediaError processing_failed when it wrote nothing.
 */
export async function developRaw(
  { run, signal }: Pick<EngineDeps, 'run' | 'signal'>,
  { path, directory }: RawFile,
): Promise<string> {
  const link = join(directory, 'raw');
  await symlink(resolve(path), link);
  await run({
    file: 'dcraw_emu',
    args: ['-w', '-T', '-o', '1', link],
    directory,
    signal,
    timeoutSeconds: 600,
  });
  const developed = `${link}.tiff`;
  await access(developed).catch((cause: unknown) => {
    throw refusal(cause);
  });
  return developed;
}

function refusal(cause?: unknown): MediaError {
  return new MediaError(
    'processing_failed',
    'The camera RAW file is damaged or of a camera that is not supported. Export it as DNG or JPEG and send that.',
    { cause },
  );
}
