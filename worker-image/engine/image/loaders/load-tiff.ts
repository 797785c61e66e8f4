/**
 * TIFF, with other decoders for variants that libvips rejects or silently reads in wrong colors: Pillow, and
 * `decode-tiff-samples.ts` for unusual sample depths.
 */
import { copyFile, open, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { MediaError } from '#crds/contract/media-error.ts';
import { withFileReader, type FileReader } from '#worker-image/engine/containers/file-reader.ts';
import {
  countTiffPages,
  firstTiffDirectory,
  offsetBehindPreview,
  SAMPLE_FORMAT,
  SEPARATE_PLANES,
  TIFF_TAG,
  tiffCoding,
  tiffNumber,
  tiffNumbers,
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
import type { DecoderDeps, ImageFile, ImageSize, Picture } from '#worker-image/engine/image/picture.ts';

/** Loads a TIFF. One that begins with a preview is read from a copy that begins with the image. */
export async function loadTiff(_deps: DecoderDeps, original: ImageFile): Promise<Picture> {
  const offset = await withFileReader(original.path, offsetBehindPreview);
  const path = offset === null ? original.path : await copyFrom(original, offset);
  const file = { ...original, path };
  const { maxPixels } = file;
  const readExif: Picture['readExif'] = () => readTiffExif(original);
  const fallback = await withFileReader(path, findFallback);
  if (fallback === null) {
    const metadata = await readMetadata({ path });
    const decode: Picture['decode'] = () => openPixels({ path, metadata, maxPixels, pages: metadata.pages ?? 1 });
    return libvipsPicture({ file, metadata, decode, readExif });
  }
  return {
    ...STILL_IMAGE,
    file,
    size: fallback.size,
    decode: async (deps) => openDecoded(await decodeTiff(deps, file, fallback), { maxPixels, pages: fallback.pages }),
    verify: async (deps) => void (await readThumbnail({ path: await decodeTiff(deps, file, fallback) })),
    readExif,
  };
}

/** Returns the path of a copy whose first page is the directory at an offset. */
async function copyFrom(file: ImageFile, offset: number): Promise<string> {
  const copy = scratchPath(file, 'behind-preview.tif');
  await copyFile(file.path, copy);
  const coding = await withFileReader(copy, ({ head }) => Promise.resolve(tiffCoding(head)));
  if (coding === null) throw new Error(`${copy} has directories, but no byte order`);
  const { firstLinkAt, offsetBytes, isLittle } = coding;
  const link = Buffer.alloc(offsetBytes);
  if (offsetBytes === 8 && isLittle) link.writeBigUInt64LE(BigInt(offset));
  else if (offsetBytes === 8) link.writeBigUInt64BE(BigInt(offset));
  else if (isLittle) link.writeUInt32LE(offset);
  else link.writeUInt32BE(offset);
  await using target = await open(copy, 'r+');
  await target.write(link, 0, link.length, firstLinkAt);
  return copy;
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

/** A TIFF that libvips does not read. */
interface TiffFallback {
  /** True for sample depths that Pillow does not read either. */
  readonly hasUnusualSamples: boolean;
  /** Size as shown, in pixels. */
  readonly size: ImageSize;
  /** Pages of the file, of which the first one is decoded. */
  readonly pages: number;
}

/** Returns the fallback for a TIFF that libvips reads wrongly or not at all; null for all others. */
async function findFallback(tiff: FileReader): Promise<TiffFallback | null> {
  const entries = await firstTiffDirectory(tiff);
  const [bits = 1] = await tiffNumbers(tiff, entries, TIFF_TAG.bits, 1);
  const [format = SAMPLE_FORMAT.unsigned] = await tiffNumbers(tiff, entries, TIFF_TAG.sampleFormat, 1);
  const hasUnusualSamples = isDecodedHere(entries, bits, format);
  if (!hasUnusualSamples && !isUnsupported(entries) && !isMisread(entries, bits, format)) return null;
  const [width, height] = [tiffNumber(entries, TIFF_TAG.width), tiffNumber(entries, TIFF_TAG.height)];
  const isSideways = tiffNumber(entries, TIFF_TAG.orientation) >= FIRST_SIDEWAYS_ORIENTATION;
  const size = isSideways ? { width: height, height: width } : { width, height };
  return { hasUnusualSamples, size, pages: await countTiffPages(tiff) };
}

/** Decodes the first page and returns the path of an uncompressed TIFF. @throws MediaError processing_failed. */
async function decodeTiff(
  { run, signal }: DecoderDeps,
  file: ImageFile,
  { hasUnusualSamples }: TiffFallback,
): Promise<string> {
  const decoded = scratchPath(file, 'decoded.tif');
  if (hasUnusualSamples) return decodeTiffSamples(file.path, decoded);
  const { exitCode, stderr } = await run({
    file: 'python3',
    args: ['-I', SCRIPT, file.path, decoded],
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
