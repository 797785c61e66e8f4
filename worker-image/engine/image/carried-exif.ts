/**
 * Camera, location and software details of inputs whose decoder drops EXIF: HEIC, large AVIF, TIFF, camera RAW, and images
 * whose colors are converted first. Source of the tags: EXIF 2.32. The names are libexif's, which libvips uses.
 */
import { readFile, stat } from 'node:fs/promises';
import { MediaError } from '#crds/contract/media-error.ts';
import { brokenFile } from '#worker-image/engine/containers/broken-file.ts';
import {
  openTiff,
  readDirectoryAt,
  readFirstDirectory,
  type Tiff,
} from '#worker-image/engine/containers/tiff-in-memory.ts';
import type { TiffEntry } from '#worker-image/engine/containers/tiff.ts';

type Fields = Readonly<Record<string, string>>;

/** Fields in the form of sharp's `withExifMerge`. */
export interface ExifFields {
  readonly IFD0: Fields;
  readonly IFD2: Fields;
  readonly IFD3: Fields;
}

type TagNames = Readonly<Record<number, string>>;

const MAIN: TagNames = {
  0x01_0e: 'ImageDescription',
  0x01_0f: 'Make',
  0x01_10: 'Model',
  0x01_31: 'Software',
  0x01_32: 'DateTime',
  0x01_3b: 'Artist',
  0x82_98: 'Copyright',
};

const PHOTO: TagNames = {
  0x82_9a: 'ExposureTime',
  0x82_9d: 'FNumber',
  0x88_22: 'ExposureProgram',
  0x88_27: 'ISOSpeedRatings',
  0x90_03: 'DateTimeOriginal',
  0x90_04: 'DateTimeDigitized',
  0x90_10: 'OffsetTime',
  0x90_11: 'OffsetTimeOriginal',
  0x90_12: 'OffsetTimeDigitized',
  0x92_01: 'ShutterSpeedValue',
  0x92_02: 'ApertureValue',
  0x92_04: 'ExposureBiasValue',
  0x92_05: 'MaxApertureValue',
  0x92_07: 'MeteringMode',
  0x92_08: 'LightSource',
  0x92_09: 'Flash',
  0x92_0a: 'FocalLength',
  0xa4_02: 'ExposureMode',
  0xa4_03: 'WhiteBalance',
  0xa4_05: 'FocalLengthIn35mmFilm',
  0xa4_06: 'SceneCaptureType',
  0xa4_33: 'LensMake',
  0xa4_34: 'LensModel',
};

const LOCATION: TagNames = {
  1: 'GPSLatitudeRef',
  2: 'GPSLatitude',
  3: 'GPSLongitudeRef',
  4: 'GPSLongitude',
  5: 'GPSAltitudeRef',
  6: 'GPSAltitude',
  7: 'GPSTimeStamp',
  12: 'GPSSpeedRef',
  13: 'GPSSpeed',
  16: 'GPSImgDirectionRef',
  17: 'GPSImgDirection',
  18: 'GPSMapDatum',
  29: 'GPSDateStamp',
};

const PHOTO_DIRECTORY = 0x87_69;
const LOCATION_DIRECTORY = 0x88_25;
const ASCII = 2;
/** Length of a number by TIFF type, in bytes; of each of the two numbers of a rational. */
const NUMBER_BYTES: Readonly<Record<number, number>> = { 1: 1, 3: 2, 4: 4, 5: 4, 9: 4, 10: 4 };
const SIGNED: readonly number[] = [9, 10];
const RATIONAL: readonly number[] = [5, 10];
const MAX_VALUES = 16;
const MAX_CHARACTERS = 1000;
/** Maximum size of a TIFF or RAW file whose details are carried over, in bytes: it is read into memory as a whole. */
const MAX_FILE_BYTES = 512 * 1024 ** 2;
/** libvips removes the last parenthesis of a text, as it prints the value's type there itself. */
const TYPE_SUFFIX = ' (ASCII)';

/** Null when nothing has to be carried over; 'unreadable' when the file's details cannot be read. */
export type CarriedExif = ExifFields | 'unreadable' | null;

/** Returns the details in a file that is a TIFF structure. */
export function readTiffExif({ path, format }: { path: string; format: string }): Promise<CarriedExif> {
  return readCarriedExif(async () => {
    const { size } = await stat(path);
    if (size <= MAX_FILE_BYTES && format !== 'raf') return readFile(path);
    throw brokenFile(format, 'it has no directories, or is too large');
  });
}

const EXIF_MARK = Buffer.from('Exif\0\0', 'latin1');

/** Returns the details in a block of EXIF as libvips reads it from a file, with or without its mark. */
export async function readExifBlock(exif: Buffer | undefined): Promise<CarriedExif> {
  if (exif === undefined) return null;
  const tiff = exif.indexOf(EXIF_MARK) === 0 ? exif.subarray(EXIF_MARK.length) : exif;
  return readCarriedExif(() => Promise.resolve(tiff));
}

/** Returns the details in a TIFF structure, as which a file holds them. */
export async function readCarriedExif(read: () => Promise<Buffer>): Promise<CarriedExif> {
  try {
    return parseExif(await read());
  } catch (error) {
    if (error instanceof MediaError) return 'unreadable';
    throw error;
  }
}

/** Returns the fields of a TIFF structure. @throws MediaError processing_failed when it is damaged. */
export function parseExif(bytes: Buffer): ExifFields | null {
  const tiff = openTiff(bytes);
  const main = readFirstDirectory(tiff)?.entries ?? [];
  const below = (directory: number, names: TagNames): Fields => {
    const link = main.find(({ tag }) => tag === directory);
    return link === undefined ? {} : fieldsOf(tiff, entriesAt(tiff, link), names);
  };
  const fields = {
    IFD0: fieldsOf(tiff, main, MAIN),
    IFD2: below(PHOTO_DIRECTORY, PHOTO),
    IFD3: below(LOCATION_DIRECTORY, LOCATION),
  };
  return Object.values(fields).every((group) => Object.keys(group).length === 0) ? null : fields;
}

function entriesAt(tiff: Tiff, { values }: TiffEntry): readonly TiffEntry[] {
  return readDirectoryAt(tiff, tiff.number(values.start, 4)).entries;
}

function fieldsOf(tiff: Tiff, entries: readonly TiffEntry[], names: TagNames): Fields {
  return Object.fromEntries(
    entries.flatMap((entry) => {
      const name = names[entry.tag];
      const text = name === undefined ? null : textOf(tiff, entry);
      return name === undefined || text === null || text === '' ? [] : [[name, text]];
    }),
  );
}

/** Returns the value as libvips reads it; null for a type that it does not read. */
function textOf(tiff: Tiff, { type, count, values }: TiffEntry): string | null {
  if (type === ASCII) {
    const text = tiff.file.toString('latin1', values.start, Math.min(values.end, values.start + MAX_CHARACTERS));
    const plain = text.replace(/\0.*$/s, '').trim();
    return plain === '' ? '' : `${plain}${TYPE_SUFFIX}`;
  }
  const bytes = NUMBER_BYTES[type];
  if (bytes === undefined || count > MAX_VALUES) return null;
  const number = (at: number): number => signed(tiff.number(at, bytes), type);
  const isRational = RATIONAL.includes(type);
  const step = isRational ? 2 * bytes : bytes;
  return Array.from({ length: count }, (_, i) => {
    const at = values.start + i * step;
    return isRational ? `${number(at)}/${number(at + bytes)}` : String(number(at));
  }).join(' ');
}

function signed(value: number, type: number): number {
  return SIGNED.includes(type) ? value | 0 : value;
}
