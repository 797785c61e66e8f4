import type { Format } from '#crds/formats.ts';
import { MediaError } from '#crds/media-error.ts';
import type { SniffedFile } from '#worker-image/engine/identify/sniffed-file.ts';
import { unsupported } from '#worker-image/engine/identify/unsupported.ts';

const HEIC_BRANDS = ['heic', 'heix', 'hevc', 'hevx', 'heim', 'heis', 'hevm', 'hevs'];
const AVIF_BRANDS = ['avif', 'avis'];
const GENERIC_PICTURE_BRANDS = ['mif1', 'mif2', 'msf1', 'miaf'];
/** VVC, EVC, AVC, JPEG, JPEG 2000 and uncompressed samples inside of HEIF. */
const OTHER_PICTURE_BRANDS = ['vvic', 'vvis', 'evbi', 'evmi', 'avci', 'avcs', 'jpeg', 'jpgs', 'j2ki', 'j2is', 'unif'];
/** Boxes that a QuickTime file without brands may begin with. */
const OLD_QUICKTIME = ['moov', 'mdat', 'wide', 'free', 'skip', 'pnot'];
const MAX_BOXES = 10_000;

interface Box {
  readonly type: string;
  /** Where its type stands. */
  readonly typeAt: number;
  readonly start: number;
  readonly end: number;
}

/**
 * MP4, QuickTime, 3GP, HEIF and AVIF: by brands, and for sound and pictures by the tracks, as audio
 * alone in a video container is audio. null when it is none. Source: ISO/IEC 14496-12.
 */
export async function formatOfIsoBmff(file: SniffedFile): Promise<Format | null> {
  const { head } = file;
  if (head.length < 16) return null;
  const first = head.toString('latin1', 4, 8);
  if (first !== 'ftyp') return OLD_QUICKTIME.includes(first) && (await hasMoov(file)) ? byTracks(file, 'mov') : null;
  const [major = '', ...compatible] = brands(head);
  const picture = pictureFormat(head, major, compatible);
  return picture ?? byTracks(file, movieFormat(major, compatible));
}

function brands(head: Buffer): string[] {
  const end = Math.min(head.length, head.readUInt32BE(0), 1024);
  const list = [head.toString('latin1', 8, 12)];
  for (let at = 16; at + 4 <= end; at += 4) list.push(head.toString('latin1', at, at + 4));
  return list;
}

function pictureFormat(head: Buffer, major: string, compatible: readonly string[]): Format | null {
  if (AVIF_BRANDS.includes(major)) return 'avif';
  if (HEIC_BRANDS.includes(major)) return 'heic';
  if (![...GENERIC_PICTURE_BRANDS, ...OTHER_PICTURE_BRANDS].includes(major)) return null;
  if (compatible.some((brand) => AVIF_BRANDS.includes(brand))) return 'avif';
  if (compatible.some((brand) => HEIC_BRANDS.includes(brand))) return 'heic';
  if (head.includes('infe') && head.includes('hvc1')) return 'heic';
  if (head.includes('infe') && head.includes('av01')) return 'avif';
  throw unsupported('a HEIF picture that holds neither HEVC nor AV1');
}

function movieFormat(major: string, compatible: readonly string[]): Format {
  if (major === 'crx ') throw unsupported('a Canon CR3 camera RAW file');
  if (major === 'jp2 ' || major === 'jpx ') throw unsupported('a JPEG 2000 image');
  if (major === 'qt  ') return 'mov';
  if (major.startsWith('3g')) return '3gp';
  if (['M4V ', 'M4VH', 'M4VP'].includes(major)) return 'm4v';
  if (['M4A ', 'M4B ', 'M4P '].includes(major)) return 'm4a';
  return compatible.includes('qt  ') && !compatible.some((brand) => /^(iso|mp4)/.test(brand)) ? 'mov' : 'mp4';
}

/** An audio brand stands even beside a picture track: audio books show chapter images in one. */
async function byTracks(file: SniffedFile, container: Format): Promise<Format> {
  if ((await sampleEntries(file)).some((type) => ENCRYPTED.has(type))) throw encrypted(container);
  if (container === 'm4a') return container;
  const handlers = await trackHandlers(file);
  if (handlers.includes('vide')) return container;
  return handlers.includes('soun') ? 'm4a' : container;
}

/** Of pictures, sound, text and anything else under Common Encryption; FairPlay's. Source: ISO/IEC 14496-12, 8.12. */
const ENCRYPTED: ReadonlySet<string> = new Set(['encv', 'enca', 'enct', 'encs', 'drms', 'drmi']);

/** ffmpeg has no key, and would copy such sound and pictures into files that nothing plays. */
function encrypted(container: Format): MediaError {
  return new MediaError(
    'processing_failed',
    `The ${container} file is encrypted, as copy-protected ones are. Send one without this protection.`,
  );
}

async function hasMoov(file: SniffedFile): Promise<boolean> {
  return (await boxesOf(file)).some(({ type }) => type === 'moov');
}

/** Four letters of the boxes of all tracks. A box that is cut off or overlong ends the search. */
async function lettersIn(file: SniffedFile, at: number, ...types: readonly string[]): Promise<string[]> {
  const found = await descend(file, ['moov', 'trak', 'mdia', ...types]);
  return Promise.all(found.map(async ({ start }) => (await file.read(start + at, 4)).toString('latin1')));
}

/** `vide`, `soun`, … of each track. Source: ISO/IEC 14496-12, 8.4.3. */
function trackHandlers(file: SniffedFile): Promise<string[]> {
  return lettersIn(file, 8, 'hdlr');
}

/** The first description of each track's samples. Source: ISO/IEC 14496-12, 8.5.2. */
function sampleEntries(file: SniffedFile): Promise<string[]> {
  return lettersIn(file, 12, 'minf', 'stbl', 'stsd');
}

/** Samples of the first track; 0 without one. Source: ISO/IEC 14496-12, 8.7.3. */
export async function sequenceFrames(file: SniffedFile): Promise<number> {
  const [sizes] = await descend(file, ['moov', 'trak', 'mdia', 'minf', 'stbl', 'stsz']);
  const count = sizes === undefined ? Buffer.alloc(0) : await file.read(sizes.start + 8, 4);
  return count.length === 4 ? count.readUInt32BE(0) : 0;
}

/** Pictures, tiles of one and metadata that a HEIF lists; 0 without a list. Source: ISO/IEC 14496-12, 8.11.6. */
export async function itemCount(file: SniffedFile): Promise<number> {
  const [list] = await descend(file, ['meta', 'iinf']);
  const bytes = list === undefined ? Buffer.alloc(0) : await file.read(list.start, 8);
  if (bytes.length < 8) return 0;
  return bytes[0] === 0 ? bytes.readUInt16BE(4) : bytes.readUInt32BE(4);
}

/**
 * Whether each picture of an AVIF is grey, and the samples run as in video, from 16 to 235. Source: AV1 Codec ISO Media
 * File Format, 2.3; ISO/IEC 14496-12, 12.1.5.
 */
export async function isLimitedGrey(file: SniffedFile): Promise<boolean> {
  const properties = await descend(file, ['meta', 'iprp', 'ipco']);
  const all = (await Promise.all(properties.map((list) => boxes(file, list)))).flat();
  const read = (name: string, bytes: number): Promise<Buffer[]> =>
    Promise.all(all.filter(({ type }) => type === name).map(({ start }) => file.read(start, bytes)));
  const codings = await read('av1C', 3);
  const ranges = (await read('colr', 11)).filter((colour) => colour.toString('latin1', 0, 4) === 'nclx');
  const isGrey = codings.length > 0 && codings.every((coding) => ((coding[2] ?? 0) & 0x10) !== 0);
  return isGrey && ranges.length > 0 && ranges.every((colour) => ((colour[10] ?? 0x80) & 0x80) === 0);
}

/** All boxes that lie in the file under the types of their containers, the outermost first. */
async function descend(file: SniffedFile, types: readonly string[]): Promise<Box[]> {
  let found: Box[] = [wholeFile(file)];
  for (const type of types) {
    const lists = await Promise.all(found.map((parent) => boxes(file, inside(parent))));
    found = lists.flat().filter((box) => box.type === type);
  }
  return found;
}

/** In `meta` version and flags stand before the boxes. */
function inside(box: Box): { start: number; end: number } {
  return box.type === 'meta' ? { ...box, start: box.start + 4 } : box;
}

/** The outermost boxes. */
export function boxesOf(file: SniffedFile): Promise<Box[]> {
  return boxes(file, wholeFile(file));
}

function wholeFile({ size }: SniffedFile): Box {
  return { type: 'file', typeAt: 0, start: 0, end: size };
}

/** The boxes directly inside a range; the payload's range each. */
async function boxes(file: SniffedFile, range: { start: number; end: number }): Promise<Box[]> {
  const list: Box[] = [];
  let at = range.start;
  while (at + 8 <= range.end && list.length < MAX_BOXES) {
    const header = await file.read(at, 16);
    if (header.length < 8) break;
    const { size, headerSize } = boxSize(header, range.end - at);
    if (size < headerSize) break;
    const type = header.toString('latin1', 4, 8);
    list.push({ type, typeAt: at + 4, start: at + headerSize, end: Math.min(at + size, range.end) });
    at += size;
  }
  return list;
}

function boxSize(header: Buffer, rest: number): { size: number; headerSize: number } {
  const size = header.readUInt32BE(0);
  if (size === 0) return { size: rest, headerSize: 8 };
  if (size === 1 && header.length >= 16) return { size: Number(header.readBigUInt64BE(8)), headerSize: 16 };
  return { size, headerSize: 8 };
}
