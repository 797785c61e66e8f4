/** TIFF files of kinds that libvips refuses, or reads in wrong colours without a word: Pillow decodes these, or, of odd depths, we do. */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { MediaError } from '#crds/media-error.ts';
import type { EngineDeps } from '#worker-image/engine/handler.ts';
import { withSniffedFile } from '#worker-image/engine/identify/sniffed-file.ts';
import {
  firstTiffDirectory,
  SAMPLE_FORMAT,
  SEPARATE_PLANES,
  TIFF_TAG,
  tiffNumber,
  tiffNumbers,
  type TiffEntries,
} from '#worker-image/engine/identify/tiff.ts';
import { decodeSamples, hasOddSamples } from '#worker-image/engine/image/tiff-samples.ts';

const COMPRESSION = { oldJpeg: 6, jpeg: 7 } as const;
/** Packings that libvips was built without: LZMA and Zstandard. */
const NOT_BUILT_IN: readonly number[] = [34_925, 50_000];
const YCBCR = 6;
/** CIE L*a*b* in three codings. */
const LAB: readonly number[] = [8, 9, 10];
/** From here on the sides change places. */
const FIRST_ON_ITS_SIDE = 5;
const DECODE_SECONDS = 600;
const SCRIPT = join(import.meta.dirname, 'decode-tiff.py');

interface OddTiff {
  /** Of samples that Pillow does not read either. */
  readonly hasOddSamples: boolean;
  /** As shown. */
  readonly width: number;
  readonly height: number;
}

/** The size of an odd TIFF; null for one that libvips reads. */
export function oddTiff(path: string): Promise<OddTiff | null> {
  return withSniffedFile({ path, filename: null }, async (file) => {
    const entries = await firstTiffDirectory(file);
    const [bits = 1] = await tiffNumbers(file, entries, TIFF_TAG.bits, 1);
    const [format = SAMPLE_FORMAT.unsigned] = await tiffNumbers(file, entries, TIFF_TAG.sampleFormat, 1);
    const odd = { hasOddSamples: hasOddSamples(entries, bits, format) };
    if (!odd.hasOddSamples && !isOdd(entries) && !isOddFloat(entries, bits, format)) return null;
    const [width, height] = [tiffNumber(entries, TIFF_TAG.width), tiffNumber(entries, TIFF_TAG.height)];
    const isOnItsSide = tiffNumber(entries, TIFF_TAG.orientation) >= FIRST_ON_ITS_SIDE;
    return isOnItsSide ? { ...odd, width: height, height: width } : { ...odd, width, height };
  });
}

/** Decodes it to a plain TIFF in the directory. @throws MediaError processing_failed. */
export async function decodeOddTiff(
  { run, signal }: Pick<EngineDeps, 'run' | 'signal'>,
  { path, directory, odd }: { path: string; directory: string; odd: OddTiff },
): Promise<string> {
  if (odd.hasOddSamples) return decodeSamples({ path, directory });
  const decoded = join(directory, 'decoded.tif');
  const args = ['-I', SCRIPT, path, decoded];
  const { exitCode, stderr } = await run({
    file: 'python3',
    args,
    directory,
    signal,
    timeoutSeconds: DECODE_SECONDS,
  });
  const isThere = await stat(decoded).then(
    ({ size }) => size > 0,
    () => false,
  );
  if (exitCode === 0 && isThere) return decoded;
  throw new MediaError(
    'processing_failed',
    'The TIFF file is damaged, or is packed in a way that is not supported. Save it without compression and send it again.',
    { cause: new Error(`exit code ${exitCode}: ${stderr.slice(-2000)}`) },
  );
}

/** Of half floats libvips makes black, and of grey ones whole numbers: 0 to 1 are two shades. */
function isOddFloat(entries: TiffEntries, bits: number, format: number): boolean {
  return (
    format === SAMPLE_FORMAT.float && (bits === 16 || (bits === 32 && tiffNumber(entries, TIFF_TAG.samples, 1) === 1))
  );
}

function isOdd(entries: TiffEntries): boolean {
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
