/** Removes metadata without touching the picture. Spec: POST /v1/strip-metadata. */
import { copyFile, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { extensionOf, type Format } from '#crds/formats.ts';
import { MediaError } from '#crds/media-error.ts';
import type { EngineDeps, Facts, Produced, Work } from '#worker-image/engine/handler.ts';
import type { CommandResult } from '#worker-image/tools/run-command.ts';
import { stripGif } from '#worker-image/engine/image/strip/strip-gif.ts';
import { stripHeif } from '#worker-image/engine/image/strip/strip-heif.ts';
import { stripJpeg } from '#worker-image/engine/image/strip/strip-jpeg.ts';
import { stripPng } from '#worker-image/engine/image/strip/strip-png.ts';
import { stripWebp } from '#worker-image/engine/image/strip/strip-webp.ts';

const STRIPPERS: Partial<Readonly<Record<Format, (file: Buffer) => Buffer>>> = {
  jpg: stripJpeg,
  png: stripPng,
  webp: stripWebp,
  gif: stripGif,
  heic: stripHeif,
  avif: stripHeif,
};

/** `-all=` leaves the main directory of a TIFF alone, maker and software included. */
const TELLING_TIFF_TAGS = ['-CommonIFD0=', '-HostComputer=', '-DocumentName=', '-PageName='];
const EXIFTOOL_SECONDS = 120;
const BMP_WARNING = 'A BMP file holds no metadata: the file is returned unchanged.';

type StripDeps = Pick<EngineDeps, 'run' | 'signal'>;

/**
 * Removes camera, place, time and software details, XMP, IPTC and embedded thumbnails; keeps pixels,
 * orientation and colour profile. A BMP comes back unchanged with a warning.
 * @throws MediaError unsupported_input for camera RAW, processing_failed for a damaged file.
 */
export async function stripImage(deps: StripDeps, work: Work, facts: Facts): Promise<Produced> {
  const { format, path: input } = work.input;
  const path = join(work.directory, `stripped.${extensionOf(format)}`);
  if (format === 'bmp') {
    await copyFile(input, path);
    return { path, format, facts, warnings: [BMP_WARNING] };
  }
  const strip = STRIPPERS[format];
  if (strip !== undefined) await writeFile(path, strip(await readFile(input)));
  else if (format === 'tiff') await stripTiff(deps, work, path);
  else
    throw new MediaError(
      'unsupported_input',
      `Metadata cannot be removed from a ${format} file. Compress decodes it to a picture without metadata.`,
    );
  return { path, format, facts, warnings: [] };
}

/**
 * A TIFF's tags are its structure: exiftool knows which of them describe the picture. It writes the file in
 * its own order, so that one without any metadata is copied instead.
 */
async function stripTiff(deps: StripDeps, work: Work, path: string): Promise<void> {
  const removed = ['-all=', ...TELLING_TIFF_TAGS, '-tagsfromfile', '@', '-icc_profile', '-orientation'];
  const { exitCode, stderr } = await runExiftool(deps, work, ['-q', '-m', ...removed, '-o', path, work.input.path]);
  const { size } = await stat(path).catch((cause: unknown) => {
    throw new MediaError(
      'processing_failed',
      'The TIFF file is damaged or not complete. Check that it opens in a viewer and send it again.',
      {
        cause: new Error(`exiftool ended with ${exitCode}: ${stderr}`, { cause }),
      },
    );
  });
  if (
    size === work.input.size &&
    (await listTags(deps, work, path)) === (await listTags(deps, work, work.input.path))
  ) {
    await copyFile(work.input.path, path);
  }
}

function runExiftool({ run, signal }: StripDeps, { directory }: Work, args: readonly string[]): Promise<CommandResult> {
  return run({ file: 'exiftool', args, directory, signal, timeoutSeconds: EXIFTOOL_SECONDS });
}

/** Every tag with its value, but for those of the file system and of the order in the file. */
async function listTags(deps: StripDeps, work: Work, path: string): Promise<string> {
  const left = ['--System:all', '--File:all', '--ExifTool:all', '--StripOffsets', '--TileOffsets'];
  return (await runExiftool(deps, work, ['-s', '-G1', '-a', '-e', ...left, path])).stdout;
}
