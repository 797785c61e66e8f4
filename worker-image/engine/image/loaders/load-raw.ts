/** Camera RAW, read by the programs of LibRaw. */
import { access, symlink } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { MediaError } from '#crds/contract/media-error.ts';
import { readTiffExif } from '#worker-image/engine/image/carried-exif.ts';
import { openDecoded, STILL_IMAGE } from '#worker-image/engine/image/libvips-picture.ts';
import type { DecoderDeps, ImageFile, ImageSize, Picture } from '#worker-image/engine/image/picture.ts';

/** Loads camera RAW. No output is one. */
export async function loadRaw(deps: DecoderDeps, file: ImageFile): Promise<Picture> {
  return {
    ...STILL_IMAGE,
    file,
    size: await readRawSize(deps, file),
    decode: async (decoders) => openDecoded(await developRaw(decoders, file), file),
    verify: () => Promise.reject(new TypeError('camera RAW is no output format')),
    readExif: () => readTiffExif(file),
  };
}

/** Reads the size after development from the headers. @throws MediaError processing_failed for unreadable headers. */
export async function readRawSize({ run, signal }: DecoderDeps, { path, directory }: ImageFile): Promise<ImageSize> {
  const { stdout } = await run({
    file: 'raw-identify',
    args: ['-v', path],
    directory,
    signal,
    timeoutSeconds: 20,
  });
  const size = /^Output size:\s+([1-9]\d{0,8}) x ([1-9]\d{0,8})$/m.exec(stdout);
  if (size === null) throw refusal();
  return { width: Number(size[1]), height: Number(size[2]) };
}

/**
 * Develops the file and returns the path of a TIFF. dcraw_emu writes beside its input and reports success for files
 * that it cannot read. @throws MediaError processing_failed when it wrote nothing.
 */
export async function developRaw({ run, signal }: DecoderDeps, { path, directory }: ImageFile): Promise<string> {
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
