import type { Format } from '#crds/formats.ts';
import { formatOfName } from '#crds/formats.ts';
import { has } from '#worker-image/engine/identify/signatures.ts';
import type { SniffedFile } from '#worker-image/engine/identify/sniffed-file.ts';
import { unsupported } from '#worker-image/engine/identify/unsupported.ts';

const SEARCHED_BYTES = 64 * 1024;
const MAX_TAGS = 8;
/** kbit/s of layer III, by the header's index. */
const BITRATES_V1: readonly number[] = [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320];
const BITRATES_V2: readonly number[] = [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160];
const SAMPLE_RATES: readonly number[] = [44_100, 48_000, 32_000];

/** Of ADTS; those of the other layers are shorter. */
const HEADER_BYTES = 7;

type Frame = { readonly format: 'mp3' | 'aac' | 'layer12'; readonly length: number };

/**
 * MP3 and AAC have no signature: two frames in a row make it sure, behind any ID3 tags. Without a tag
 * and without a name that says so, the first frame must stand at the very start. null when it is none.
 */
export async function formatOfMpegAudio(file: SniffedFile): Promise<Format | null> {
  const start = await endOfTags(file);
  const bytes = await file.read(start, SEARCHED_BYTES);
  if (start > 0 && has(bytes, 'fLaC')) return 'flac';
  const named = formatOfName(file.filename);
  const lenient = start > 0 || named === 'mp3' || named === 'aac';
  const isLast = start + bytes.length >= file.size;
  for (let at = 0; at < (lenient ? bytes.length : 1); at += 1) {
    const frame = twoFramesAt(bytes, at, isLast);
    if (frame === null) continue;
    if (frame.format === 'layer12') throw unsupported('MPEG audio of layer I or II');
    return frame.format;
  }
  if (start > 0) throw unsupported('an ID3 tag without MP3, AAC or FLAC behind it');
  return null;
}

/** Bytes of the MP3 frame there; 0 when none begins, Infinity when the bytes end within its header. */
export function mp3FrameBytes(bytes: Buffer, at: number): number {
  if (at + HEADER_BYTES > bytes.length) return bytes[at] === 0xff ? Infinity : 0;
  const frame = frameAt(bytes, at);
  return frame?.format === 'mp3' ? frame.length : 0;
}

/** Where the ID3v2 tags at the start end, which stand one behind the other. */
export async function endOfTags(file: SniffedFile): Promise<number> {
  let at = 0;
  for (let tags = 0; tags < MAX_TAGS; tags += 1) {
    const header = await file.read(at, 10);
    if (header.length < 10 || !has(header, 'ID3')) break;
    const footer = ((header[5] ?? 0) & 0x10) === 0 ? 0 : 10;
    at += 10 + id3Size(header.subarray(6)) + footer;
  }
  return at;
}

/** The size that a tag of ID3v2 names: seven bits a byte. */
export function id3Size(bytes: Buffer): number {
  return bytes.reduce((sum, byte) => sum * 128 + (byte & 0x7f), 0);
}

/** The frame there, when a second one of its kind follows or the file ends with it. */
function twoFramesAt(bytes: Buffer, at: number, isLast: boolean): Frame | null {
  const frame = frameAt(bytes, at);
  if (frame === null) return null;
  const next = at + frame.length;
  if (isLast && next === bytes.length) return frame;
  return frameAt(bytes, next)?.format === frame.format ? frame : null;
}

function frameAt(bytes: Buffer, at: number): Frame | null {
  if (at + HEADER_BYTES > bytes.length || bytes[at] !== 0xff) return null;
  const second = bytes[at + 1] ?? 0;
  if ((second & 0xe0) !== 0xe0) return null;
  const layer = (second >> 1) & 3;
  if (layer === 0) return adtsFrame(bytes, at);
  return layer === 1 ? layer3Frame(bytes, at) : layer12Frame(bytes, at);
}

/** ISO/IEC 13818-7: sync of twelve bits, length of thirteen. */
function adtsFrame(bytes: Buffer, at: number): Frame | null {
  const isSync = ((bytes[at + 1] ?? 0) & 0xf6) === 0xf0;
  const rateIndex = ((bytes[at + 2] ?? 0) >> 2) & 0xf;
  if (!isSync || rateIndex > 12) return null;
  const length = (((bytes[at + 3] ?? 0) & 3) << 11) | ((bytes[at + 4] ?? 0) << 3) | ((bytes[at + 5] ?? 0) >> 5);
  return length > 7 ? { format: 'aac', length } : null;
}

/** Versions of MPEG audio by the header's two bits; 1 is none. Sample rates of the table are divided. */
const VERSIONS: readonly ({
  readonly bitrates: readonly number[];
  readonly samples: number;
  readonly divisor: number;
} | null)[] = [
  { bitrates: BITRATES_V2, samples: 72_000, divisor: 4 },
  null,
  { bitrates: BITRATES_V2, samples: 72_000, divisor: 2 },
  { bitrates: BITRATES_V1, samples: 144_000, divisor: 1 },
];

/** ISO/IEC 11172-3 and 13818-3, and the half rates of version 2.5. */
function layer3Frame(bytes: Buffer, at: number): Frame | null {
  const version = VERSIONS[((bytes[at + 1] ?? 0) >> 3) & 3] ?? null;
  const third = bytes[at + 2] ?? 0;
  const rate = SAMPLE_RATES[(third >> 2) & 3];
  const kilobits = version?.bitrates[third >> 4] ?? 0;
  if (version === null || kilobits === 0 || rate === undefined) return null;
  const padding = (third >> 1) & 1;
  return { format: 'mp3', length: Math.floor((version.samples * kilobits * version.divisor) / rate) + padding };
}

const BITRATES_LAYER2: readonly number[] = [0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384];

/** Only layer II of version 1, the one in use: enough to name it in the refusal. */
function layer12Frame(bytes: Buffer, at: number): Frame | null {
  const third = bytes[at + 2] ?? 0;
  const kilobits = BITRATES_LAYER2[third >> 4] ?? 0;
  const rate = SAMPLE_RATES[(third >> 2) & 3];
  if (((bytes[at + 1] ?? 0) & 0xfe) !== 0xfc || kilobits === 0 || rate === undefined) return null;
  return { format: 'layer12', length: Math.floor((144_000 * kilobits) / rate) + ((third >> 1) & 1) };
}
