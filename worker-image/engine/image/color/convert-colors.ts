import { stat, writeFile } from 'node:fs/promises';
import type { Metadata } from 'sharp';
import { MediaError } from '#crds/contract/media-error.ts';
import type { ColorSpace } from '#worker-image/engine/image/color/color-space.ts';
import { makeIccProfile } from '#worker-image/engine/image/color/icc-profile.ts';
import { openDecoded, scratchPath } from '#worker-image/engine/image/libvips-picture.ts';
import type { DecoderDeps, ImageFile, PixelSource } from '#worker-image/engine/image/picture.ts';

/** Samples whose color space the file names by numbers. */
interface NumberedSamples {
  readonly file: ImageFile;
  /** The file itself, or a copy that libvips reads. */
  readonly path: string;
  readonly color: ColorSpace;
  readonly metadata: Pick<Metadata, 'depth' | 'bitsPerSample'>;
  readonly samples: 'rgb' | 'gray';
}

const CONVERT_SECONDS = 600;

/**
 * Opens samples after their conversion to sRGB or, when they are wider, to Display P3, with its ICC profile. sharp cannot
 * be told the color space of a file, libvips' program can.
 * @throws MediaError processing_failed when the file cannot be decoded.
 */
export async function openConverted({ run, signal }: DecoderDeps, input: NumberedSamples): Promise<PixelSource> {
  const { file, path, color, metadata, samples } = input;
  const [profile, converted] = [scratchPath(file, 'numbers.icc'), scratchPath(file, 'converted.tif')];
  await writeFile(profile, makeIccProfile(color, samples));
  const isDeep = metadata.depth === 'ushort' || (metadata.bitsPerSample ?? 8) > 8;
  const target = color.isWide && samples === 'rgb' ? 'p3' : 'srgb';
  const transform = ['--input-profile', profile, '--intent', 'relative', '--depth', isDeep ? '16' : '8'];
  const { exitCode, stderr } = await run({
    file: 'vips',
    args: ['icc_transform', path, `${converted}[compression=none]`, target, ...transform],
    directory: file.directory,
    signal,
    timeoutSeconds: CONVERT_SECONDS,
    env: { VIPS_BLOCK_UNTRUSTED: '1' },
  });
  const size = await stat(converted).then(
    (written) => written.size,
    () => 0,
  );
  if (exitCode === 0 && size > 0) return openDecoded(converted, file);
  throw new MediaError(
    'processing_failed',
    `The ${file.format.toUpperCase()} file is damaged or uses a feature that is not supported. Check that it opens in a viewer and send it again.`,
    { cause: new Error(`exit code ${exitCode}: ${stderr.slice(-500)}`) },
  );
}
