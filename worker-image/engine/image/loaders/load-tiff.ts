/**
 * TIFF, with other decoders for variants that libvips rejects or silently reads in wrong colors: Pillow, and
 * `decode-tiff-samples.ts` for unusual sample depths.
 */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { MediaError } from '#crds/contract/media-error.ts';
import { withFileReader, type FileReader } from '#worker-image/engine/containers/file-reader.ts';
import {
  countTiffPages,
  firstTiffDirectory,
  SAMPLE_FORMAT,
  SEPARATE_PLANES,
  TIFF_TAG,
  tiffNumber,
  tiffNumbers,
  tiffRational,
  type TiffEntries,
} from '#worker-image/engine/containers/tiff.ts';
import { readTiffExif } from '#worker-image/engine/image/carried-exif.ts';
import {
  libvipsPicture,
  openDecoded,
  openPixels,
  readMetadata,
  readThumbnail,
  scratchPath,
  STILL_IMAGE,
} from '#worker-image/engine/image/libvips-picture.ts';
import { decodeTiffSamples, isDecodedHere } from '#worker-image/engine/image/loaders/decode-tiff-samples.ts';
import { skipPreview } from '#worker-image/engine/image/loaders/tiff-behind-preview.ts';
import type { DecoderDeps, ImageFile, ImageSize, Picture, Resolution } from '#worker-image/engine/image/picture.ts';

/** Loads a TIFF. One that begins with a preview is read from a copy that begins with the image. */
export async function loadTiff(_deps: DecoderDeps, original: ImageFile): Promise<Picture> {
  const path = await skipPreview(original);
  const file = { ...original, path };
  const { maxPixels } = file;
  const readExif: Picture['readExif'] = () => readTiffExif(original);
  const { fallback, ...pixels } = await withFileReader(path, readHeaders);
  if (fallback === null) {
    const metadata = await readMetadata({ path });
    const decode: Picture['decode'] = () => openPixels({ path, metadata, maxPixels, ...pixels });
    return libvipsPicture({ file, metadata, decode, readExif });
  }
  return {
    ...STILL_IMAGE,
    file,
    size: fallback.size,
    decode: async (deps) => openDecoded(await decodeTiff(deps, file, fallback), { maxPixels, ...pixels }),
    verify: async (deps) => void (await readThumbnail({ path: await decodeTiff(deps, file, fallback) })),
    readExif,
  };
}

const COMPRESSION = { oldJpeg: 6, jpeg: 7 } as const;
/** Compressions that libvips was built without: LZMA and Zstandard. */
const NOT_BUILT_IN: readonly number[] = [34_925, 50_000];
const YCBCR = 6;
/** CIE L*a*b* in three encodings. */
const LAB: readonly number[] = [8, 9, 10];
/** First orientation that swaps width and height. */
const FIRST_SIDEWAYS_ORIENTATION = 5;
const DECODE_SECONDS = 600;
const SCRIPT = join(import.meta.dirname, 'decode-tiff.py');

interface TiffHeaders {
  /** Pages of the file, of which the first one is decoded. */
  readonly pages: number;
  readonly resolution: Resolution | undefined;
  readonly warnings: readonly string[];
  /** Null for a TIFF that libvips reads as it is. */
  readonly fallback: TiffFallback | null;
}

/** A TIFF that libvips does not read, or not as it is. */
interface TiffFallback {
  /** libvips removes channels, and Pillow reads what it does not. `samples`: depths that neither of them reads. */
  readonly decoder: 'libvips' | 'Pillow' | 'samples';
  /** Channels with colors. */
  readonly colors: number;
  /** Size as shown, in pixels. */
  readonly size: ImageSize;
}

const EXTRA_CHANNEL_WARNING = 'An extra channel of the TIFF, which is no transparency, was dropped.';

async function readHeaders(tiff: FileReader): Promise<TiffHeaders> {
  const entries = await firstTiffDirectory(tiff);
  const colors = await countColorChannels(tiff, entries);
  return {
    pages: await countTiffPages(tiff),
    resolution: await readResolution(tiff, entries),
    warnings: colors === null ? [] : [EXTRA_CHANNEL_WARNING],
    fallback: await findFallback(tiff, entries, colors),
  };
}

/** Channels of gray, RGB and CMYK, by TIFF's number of the color space. */
const COLOR_CHANNELS: Readonly<Record<number, number>> = { 0: 1, 1: 1, 2: 3, 5: 4 };
/** Value of `extraSamples` for a channel that is no transparency, such as a selection or a spot color. */
const UNSPECIFIED = 0;

/** Returns the channels with colors when others follow that are no transparency, as which libvips reads them; else null. */
async function countColorChannels(tiff: FileReader, entries: TiffEntries): Promise<number | null> {
  const colors = COLOR_CHANNELS[tiffNumber(entries, TIFF_TAG.photometric)];
  const [meaning] = await tiffNumbers(tiff, entries, TIFF_TAG.extraSamples, 1);
  const isExtra = meaning === UNSPECIFIED && colors !== undefined && tiffNumber(entries, TIFF_TAG.samples) > colors;
  return isExtra ? colors : null;
}

/** Centimeters of each unit of `resolutionUnit`: inch and centimeter. */
const UNIT_CENTIMETERS: Readonly<Record<number, number>> = { 2: 2.54, 3: 1 };
const INCH = 2;

/** Returns the resolution of the image as shown; undefined where the file does not state it. */
async function readResolution(tiff: FileReader, entries: TiffEntries): Promise<Resolution | undefined> {
  const x = await tiffRational(tiff, entries, TIFF_TAG.xResolution);
  const y = await tiffRational(tiff, entries, TIFF_TAG.yResolution);
  const unit = UNIT_CENTIMETERS[tiffNumber(entries, TIFF_TAG.resolutionUnit, INCH)];
  if (x === null || y === null || unit === undefined) return undefined;
  const [across, down] = isSideways(entries) ? [y, x] : [x, y];
  return { x: (across * 2.54) / unit, y: (down * 2.54) / unit };
}

function isSideways(entries: TiffEntries): boolean {
  return tiffNumber(entries, TIFF_TAG.orientation) >= FIRST_SIDEWAYS_ORIENTATION;
}

/** Returns the fallback for a TIFF that libvips reads wrongly or not at all; null for all others. */
async function findFallback(
  tiff: FileReader,
  entries: TiffEntries,
  colors: number | null,
): Promise<TiffFallback | null> {
  const [bits = 1] = await tiffNumbers(tiff, entries, TIFF_TAG.bits, 1);
  const [format = SAMPLE_FORMAT.unsigned] = await tiffNumbers(tiff, entries, TIFF_TAG.sampleFormat, 1);
  const [width, height] = [tiffNumber(entries, TIFF_TAG.width), tiffNumber(entries, TIFF_TAG.height)];
  const size = isSideways(entries) ? { width: height, height: width } : { width, height };
  const fallback = { colors: colors ?? tiffNumber(entries, TIFF_TAG.samples, 1), size };
  if (isDecodedHere(entries, bits, format)) return { ...fallback, decoder: 'samples' };
  if (isUnsupported(entries) || isMisread(entries, bits, format)) return { ...fallback, decoder: 'Pillow' };
  return colors === null ? null : { ...fallback, decoder: 'libvips' };
}

/** Decodes the first page and returns the path of an uncompressed TIFF. @throws MediaError processing_failed. */
async function decodeTiff(
  { run, signal }: DecoderDeps,
  file: ImageFile,
  { decoder, colors }: TiffFallback,
): Promise<string> {
  const decoded = scratchPath(file, 'decoded.tif');
  if (decoder === 'samples') return decodeTiffSamples(file.path, decoded);
  const command =
    decoder === 'Pillow'
      ? { file: 'python3', args: ['-I', SCRIPT, file.path, decoded] }
      : {
          file: 'vips',
          args: ['extract_band', file.path, `${decoded}[compression=none]`, '0', '--n', String(colors)],
          env: { VIPS_BLOCK_UNTRUSTED: '1' },
        };
  const { exitCode, stderr } = await run({
    ...command,
    directory: file.directory,
    signal,
    timeoutSeconds: DECODE_SECONDS,
  });
  const size = await stat(decoded).then(
    (written) => written.size,
    () => 0,
  );
  if (exitCode === 0 && size > 0) return decoded;
  throw new MediaError(
    'processing_failed',
    'The TIFF file is damaged, or is compressed in a way that is not supported. Save it without compression and send it again.',
    { cause: new Error(`exit code ${exitCode}: ${stderr.slice(-2000)}`) },
  );
}

/** Returns whether libvips reads the samples wrongly: half floats as black, gray ones of 32 bits as two shades. */
function isMisread(entries: TiffEntries, bits: number, format: number): boolean {
  if (format === SAMPLE_FORMAT.float && bits === 16) return true;
  const isSigned = format === SAMPLE_FORMAT.float || format === SAMPLE_FORMAT.signed;
  return isSigned && bits === 32 && tiffNumber(entries, TIFF_TAG.samples, 1) === 1;
}

function isUnsupported(entries: TiffEntries): boolean {
  const compression = tiffNumber(entries, TIFF_TAG.compression);
  const photometric = tiffNumber(entries, TIFF_TAG.photometric);
  return (
    compression === COMPRESSION.oldJpeg ||
    NOT_BUILT_IN.includes(compression) ||
    (photometric === YCBCR && compression !== COMPRESSION.jpeg) ||
    LAB.includes(photometric) ||
    (tiffNumber(entries, TIFF_TAG.planar) === SEPARATE_PLANES && entries.has(TIFF_TAG.tileWidth)) ||
    (tiffNumber(entries, TIFF_TAG.sampleFormat) === SAMPLE_FORMAT.signed && tiffNumber(entries, TIFF_TAG.bits) === 8)
  );
}
