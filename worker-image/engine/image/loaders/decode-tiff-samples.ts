/**
 * TIFF samples of depths that libvips rejects or silently reads as another depth: 2 to 15 bits, 24, 32, and floats of 16.
 * Each sample is written with 16 bits. Source: TIFF 6.0.
 */
import { open } from 'node:fs/promises';
import { inflateSync } from 'node:zlib';
import { MediaError } from '#crds/contract/media-error.ts';
import { withFileReader, type FileReader } from '#worker-image/engine/containers/file-reader.ts';
import {
  firstTiffDirectory,
  SAMPLE_FORMAT,
  SEPARATE_PLANES,
  TIFF_TAG,
  tiffCoding,
  tiffNumber,
  tiffNumbers,
  type TiffEntries,
} from '#worker-image/engine/containers/tiff.ts';
import { unpackSamples } from '#worker-image/engine/image/loaders/unpack-tiff-samples.ts';
import { makeLzwDecoder } from '#worker-image/engine/containers/lzw.ts';

const WHITE_IS_ZERO = 0;
const RGB = 2;
const MAX_STRIPS = 1_000_000;
const MAX_PROFILE_BYTES = 4 * 1024 ** 2;

type Decompress = (packed: Buffer, length: number) => Buffer;

/** Decompressors by TIFF's number of the compression. */
const DECOMPRESS: Readonly<Record<number, Decompress>> = {
  1: (packed) => packed,
  5: decompressLzw,
  8: (packed, length) => inflateSync(packed, { maxOutputLength: Math.max(1, length) }),
  32_946: (packed, length) => inflateSync(packed, { maxOutputLength: Math.max(1, length) }),
};

/** Returns whether a page's samples have such a depth and a layout that is read here. */
export function isDecodedHere(entries: TiffEntries, bits: number, sampleFormat: number): boolean {
  const isColor = tiffNumber(entries, TIFF_TAG.photometric, -1) === RGB;
  return (
    (sampleFormat === SAMPLE_FORMAT.float
      ? bits === 16
      : sampleFormat === SAMPLE_FORMAT.unsigned && isUnusualDepth(bits, isColor)) &&
    (isColor || tiffNumber(entries, TIFF_TAG.photometric, -1) <= 1) &&
    tiffNumber(entries, TIFF_TAG.samples, 1) === (isColor ? 3 : 1) &&
    DECOMPRESS[tiffNumber(entries, TIFF_TAG.compression, 1)] !== undefined &&
    tiffNumber(entries, TIFF_TAG.predictor, 1) === 1 &&
    !entries.has(TIFF_TAG.tileWidth)
  );
}

function isUnusualDepth(bits: number, isColor: boolean): boolean {
  const isRead = bits === 1 || bits === 8 || (!isColor && (bits === 2 || bits === 4));
  return (bits < 16 && !isRead) || bits === 24 || bits === 32;
}

interface SampleLayout {
  readonly width: number;
  readonly height: number;
  readonly bits: number;
  readonly isFloat: boolean;
  /** Samples per pixel: gray, or red, green and blue. */
  readonly samples: 1 | 3;
  /** Samples in a row of a strip. */
  readonly samplesPerRow: number;
  readonly rowsPerStrip: number;
  /** Planes of one sample each; 1 when the samples of a pixel are adjacent. */
  readonly planes: number;
  readonly offsets: readonly number[];
  readonly lengths: readonly number[];
  readonly decompress: Decompress;
}

/** Writes the first page as an uncompressed TIFF of 16 bits and returns its path. @throws MediaError processing_failed. */
export async function decodeTiffSamples(path: string, decoded: string): Promise<string> {
  await withFileReader(path, async (file) => {
    const entries = await firstTiffDirectory(file);
    const layout = await layoutOf(file, entries);
    const isInverted = tiffNumber(entries, TIFF_TAG.photometric, 1) === WHITE_IS_ZERO;
    await using output = await open(decoded, 'w');
    await output.writeFile(
      uncompressedTiffHeader({
        ...layout,
        orientation: tiffNumber(entries, TIFF_TAG.orientation, 1),
        profile: await profileOf(file, entries),
      }),
    );
    const strips = Math.ceil(layout.height / layout.rowsPerStrip);
    for (let strip = 0; strip < strips; strip += 1)
      await output.writeFile(await readStrip(file, layout, { strip, strips, isInverted }));
  });
  return decoded;
}

async function layoutOf(file: FileReader, entries: TiffEntries): Promise<SampleLayout> {
  const [width, height] = [tiffNumber(entries, TIFF_TAG.width, 0), tiffNumber(entries, TIFF_TAG.height, 0)];
  const samples = tiffNumber(entries, TIFF_TAG.photometric, 1) === RGB ? 3 : 1;
  const [bits = 1] = await tiffNumbers(file, entries, TIFF_TAG.bits, 1);
  const [sampleFormat] = await tiffNumbers(file, entries, TIFF_TAG.sampleFormat, 1);
  const planes = tiffNumber(entries, TIFF_TAG.planar, 1) === SEPARATE_PLANES ? samples : 1;
  return {
    width,
    height,
    bits,
    isFloat: sampleFormat === SAMPLE_FORMAT.float,
    samples,
    samplesPerRow: (width * samples) / planes,
    rowsPerStrip: Math.max(1, Math.min(height, tiffNumber(entries, TIFF_TAG.rowsPerStrip, height))),
    planes,
    offsets: await tiffNumbers(file, entries, TIFF_TAG.offsets, MAX_STRIPS),
    lengths: await tiffNumbers(file, entries, TIFF_TAG.lengths, MAX_STRIPS),
    decompress: DECOMPRESS[tiffNumber(entries, TIFF_TAG.compression, 1)] ?? ((packed) => packed),
  };
}

/** Returns the rows of one strip with the samples of all planes. */
async function readStrip(
  file: FileReader,
  layout: SampleLayout,
  { strip, strips, isInverted }: { strip: number; strips: number; isInverted: boolean },
): Promise<Buffer> {
  const { samplesPerRow, rowsPerStrip, height, planes, bits, isFloat } = layout;
  const rows = Math.min(rowsPerStrip, height - strip * rowsPerStrip);
  const rowBytes = Math.ceil((samplesPerRow * bits) / 8);
  const isLittle = tiffCoding(file.head)?.isLittle === true;
  const out = new Uint16Array(rows * samplesPerRow * planes);
  for (let plane = 0; plane < planes; plane += 1) {
    const bytes = await stripBytes(file, layout, { index: plane * strips + strip, length: rows * rowBytes });
    for (let row = 0; row < rows; row += 1) {
      const into = { out, at: row * samplesPerRow * planes + plane, step: planes, count: samplesPerRow };
      const coding = { bits, isLittle, isInverted, isFloat };
      unpackSamples(bytes.subarray(row * rowBytes, (row + 1) * rowBytes), into, coding);
    }
  }
  return Buffer.from(out.buffer);
}

async function stripBytes(
  file: FileReader,
  { offsets, lengths, decompress }: SampleLayout,
  { index, length }: { index: number; length: number },
): Promise<Buffer> {
  const [offset, packedLength] = [offsets[index], lengths[index] ?? length];
  if (offset === undefined) throw damaged();
  const packed = await file.read(offset, packedLength);
  let bytes: Buffer;
  try {
    bytes = decompress(packed, length);
  } catch (cause) {
    throw damaged(cause);
  }
  if (bytes.length < length) throw damaged();
  return bytes;
}

function decompressLzw(packed: Buffer, length: number): Buffer {
  const pieces: Buffer[] = [];
  let found = 0;
  for (const piece of makeLzwDecoder(1)(packed)) {
    pieces.push(Buffer.from(piece));
    found += piece.length;
    if (found >= length) break;
  }
  return Buffer.concat(pieces);
}

async function profileOf(file: FileReader, entries: TiffEntries): Promise<Buffer | null> {
  const entry = entries.get(TIFF_TAG.profile);
  if (entry === undefined || entry.count > MAX_PROFILE_BYTES || entry.count < 128) return null;
  return file.read(entry.values.start, entry.count);
}

function damaged(cause?: unknown): MediaError {
  return new MediaError(
    'processing_failed',
    'The TIFF file is damaged or not complete: a part of its image is missing. Check that it opens elsewhere.',
    { cause },
  );
}

interface UncompressedTiff {
  readonly width: number;
  readonly height: number;
  readonly samples: 1 | 3;
  readonly orientation: number;
  readonly profile: Buffer | null;
}

const [SHORT, LONG, BYTES] = [3, 4, 7];
const HEADER_BYTES = 8;
const ENTRY_BYTES = 12;

/** Returns the bytes before the samples of an uncompressed little-endian TIFF of 16 bits in one strip. */
export function uncompressedTiffHeader({ width, height, samples, orientation, profile }: UncompressedTiff): Buffer {
  const tags: (readonly [tag: number, type: number, value: number, count?: number])[] = [
    [TIFF_TAG.width, LONG, width],
    [TIFF_TAG.height, LONG, height],
    [TIFF_TAG.bits, SHORT, 16],
    [TIFF_TAG.compression, SHORT, 1],
    [TIFF_TAG.photometric, SHORT, samples === 3 ? 2 : 1],
    [TIFF_TAG.offsets, LONG, 0],
    [TIFF_TAG.orientation, SHORT, orientation],
    [TIFF_TAG.samples, SHORT, samples],
    [TIFF_TAG.rowsPerStrip, LONG, height],
    [TIFF_TAG.lengths, LONG, width * height * samples * 2],
    ...(profile === null ? [] : [[TIFF_TAG.profile, BYTES, 0, profile.length] as const]),
  ];
  const end = HEADER_BYTES + 2 + tags.length * ENTRY_BYTES + 4;
  const depths = Buffer.from(Uint16Array.from({ length: 4 }, () => 16).buffer);
  const positions = new Map<number, number>([
    [TIFF_TAG.bits, end],
    [TIFF_TAG.profile, end + depths.length],
    [TIFF_TAG.offsets, end + depths.length + (profile?.length ?? 0)],
  ]);
  const directory = Buffer.alloc(end);
  directory.write('II*\0\x08\0\0\0', 'latin1');
  directory.writeUInt16LE(tags.length, HEADER_BYTES);
  tags.forEach(([tag, type, value, count = 1], index) => {
    const at = HEADER_BYTES + 2 + index * ENTRY_BYTES;
    const isList = tag === TIFF_TAG.bits && samples > 1;
    directory.writeUInt16LE(tag, at);
    directory.writeUInt16LE(type, at + 2);
    directory.writeUInt32LE(isList ? samples : count, at + 4);
    directory.writeUInt32LE(tag === TIFF_TAG.bits && !isList ? value : (positions.get(tag) ?? value), at + 8);
  });
  return Buffer.concat([directory, depths, ...(profile === null ? [] : [profile])]);
}
