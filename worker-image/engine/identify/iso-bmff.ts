import { FORMATS, type Format } from '#crds/catalogue/formats.ts';
import { GENERIC_IMAGE_BRANDS } from '#crds/contract/first-bytes.ts';
import { MediaError } from '#crds/contract/media-error.ts';
import type { FileReader } from '#worker-image/engine/containers/file-reader.ts';
import { readBoxesByPath, readTopBoxes } from '#worker-image/engine/containers/iso-boxes.ts';
import { unsupported } from '#worker-image/engine/identify/unsupported.ts';

/** Brands of HEIF with VVC, EVC, AVC, JPEG, JPEG 2000 or uncompressed samples. */
const OTHER_IMAGE_BRANDS = ['vvic', 'vvis', 'evbi', 'evmi', 'avci', 'avcs', 'jpeg', 'jpgs', 'j2ki', 'j2is', 'unif'];
/** Types of the first box of QuickTime files without brands. */
const BRANDLESS_QUICKTIME = ['moov', 'mdat', 'wide', 'free', 'skip', 'pnot'];

/**
 * Returns the format of an ISO base media file: by its brands for images, by brands and tracks for media, as a video
 * container with audio alone is audio; null when the file is none. Source: ISO/IEC 14496-12.
 * @throws MediaError unsupported_input for other brands, processing_failed for encrypted tracks.
 */
export async function formatOfIsoBmff(file: FileReader): Promise<Format | null> {
  const { head } = file;
  if (head.length < 16) return null;
  const first = head.toString('latin1', 4, 8);
  if (first !== 'ftyp')
    return BRANDLESS_QUICKTIME.includes(first) && (await hasMovieBox(file)) ? byTracks(file, 'mov') : null;
  const [major = '', ...compatible] = brands(head);
  const image = imageFormat(head, major, compatible);
  return image ?? byTracks(file, movieFormat(major, compatible));
}

function brands(head: Buffer): string[] {
  const end = Math.min(head.length, head.readUInt32BE(0), 1024);
  const list = [head.toString('latin1', 8, 12)];
  for (let at = 16; at + 4 <= end; at += 4) list.push(head.toString('latin1', at, at + 4));
  return list;
}

function imageFormat(head: Buffer, major: string, compatible: readonly string[]): Format | null {
  const branded = IMAGES.find((format) => hasBrand(format, major));
  if (branded !== undefined) return branded;
  if (![...GENERIC_IMAGE_BRANDS, ...OTHER_IMAGE_BRANDS].includes(major)) return null;
  const compatibleWith = IMAGES.find((format) => compatible.some((brand) => hasBrand(format, brand)));
  if (compatibleWith !== undefined) return compatibleWith;
  if (head.includes('infe') && head.includes('hvc1')) return 'heic';
  if (head.includes('infe') && head.includes('av01')) return 'avif';
  throw unsupported('a HEIF image with neither HEVC nor AV1');
}

const IMAGES = ['avif', 'heic'] as const satisfies Format[];

function hasBrand(format: Format, brand: string): boolean {
  return FORMATS[format].brands?.includes(brand) === true;
}

function movieFormat(major: string, compatible: readonly string[]): Format {
  if (major === 'crx ') throw unsupported('a Canon CR3 camera RAW file');
  if (major === 'jp2 ' || major === 'jpx ') throw unsupported('a JPEG 2000 image');
  if (major === 'qt  ') return 'mov';
  if (major.startsWith('3g')) return '3gp';
  if (['M4V ', 'M4VH', 'M4VP'].includes(major)) return 'm4v';
  if (hasBrand('m4a', major)) return 'm4a';
  return compatible.includes('qt  ') && !compatible.some((brand) => /^(iso|mp4)/.test(brand)) ? 'mov' : 'mp4';
}

/** An audio brand decides even with a video track: audiobooks show their chapter images in one. */
async function byTracks(file: FileReader, container: Format): Promise<Format> {
  if ((await sampleEntries(file)).some((type) => ENCRYPTED.has(type))) throw encryptedFile(container);
  if (container === 'm4a') return container;
  const handlers = await trackHandlers(file);
  if (handlers.includes('vide')) return container;
  return handlers.includes('soun') ? 'm4a' : container;
}

/** Sample entries of encrypted tracks: Common Encryption (ISO/IEC 14496-12, 8.12), FairPlay, Audible. */
const ENCRYPTED: ReadonlySet<string> = new Set(['encv', 'enca', 'enct', 'encs', 'drms', 'drmi', 'aavd']);

/** Returns the refusal of an encrypted file: ffmpeg would copy its tracks into files that no player can decrypt. */
function encryptedFile(container: Format): MediaError {
  return new MediaError(
    'processing_failed',
    `The ${container} file is encrypted, as copy-protected ones are. Send one without this protection.`,
  );
}

async function hasMovieBox(file: FileReader): Promise<boolean> {
  return (await readTopBoxes(file)).some(({ type }) => type === 'moov');
}

/** Returns the four characters at an offset into the payload of every box under this path of each track. */
async function trackCodes(file: FileReader, offset: number, ...path: readonly string[]): Promise<string[]> {
  const found = await readBoxesByPath(file, ['moov', 'trak', 'mdia', ...path]);
  return Promise.all(found.map(async ({ body }) => (await file.read(body + offset, 4)).toString('latin1')));
}

/** Returns the handler of each track, such as `vide` or `soun`. Source: ISO/IEC 14496-12, 8.4.3. */
function trackHandlers(file: FileReader): Promise<string[]> {
  return trackCodes(file, 8, 'hdlr');
}

/** Returns the type of the first sample entry of each track. Source: ISO/IEC 14496-12, 8.5.2. */
function sampleEntries(file: FileReader): Promise<string[]> {
  return trackCodes(file, 12, 'minf', 'stbl', 'stsd');
}
