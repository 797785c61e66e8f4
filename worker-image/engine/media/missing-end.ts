/**
 * Tells when the end of a media file is missing: ffmpeg plays what is there and says nothing of the rest.
 * Containers say how long they or their parts are; only a few bytes of the file are read for it.
 */
import type { Format } from '#crds/formats.ts';
import type { Facts, Work } from '#worker-image/engine/handler.ts';
import { endOfTags } from '#worker-image/engine/identify/mpeg-audio.ts';
import { withSniffedFile, type SniffedFile } from '#worker-image/engine/identify/sniffed-file.ts';
import { ADTS_FRAME, endsInsideUnit, MP3_FRAME, PROGRAM_PACKET } from '#worker-image/engine/media/ends-inside-unit.ts';
import type { Probe } from '#worker-image/engine/media/probe.ts';
import { isDemuxable, type DemuxableFormat } from '#worker-image/tools/ffmpeg.ts';

/** The facts of an input, with a warning when its end is missing; as they are when it is whole or does not tell. */
export async function withWarning(
  { input: { path, format } }: Pick<Work, 'input'>,
  { claimedSeconds }: Pick<Probe, 'claimedSeconds'>,
  facts: Facts,
): Promise<Facts> {
  if (!isDemuxable(format)) return facts;
  const isCutOff = CHECKS[format];
  const time = { claimed: TRUTHFUL.has(format) ? claimedSeconds : 0, counted: facts.durationSeconds ?? 0 };
  const found = await withSniffedFile({ path, filename: null }, async (file) => isCutOff(file, time));
  return found ? { ...facts, warning: warningOf(time) } : facts;
}

function warningOf(time: PlayingTime): string {
  return isShorter(time)
    ? `The file ends early: ${rounded(time.counted)} of ${rounded(time.claimed)} seconds could be read. The result holds those.`
    : 'The file ends early: its end is missing. The result holds what could be read.';
}

/** Formats whose header says how long they are; of others ffprobe guesses by size and rate. */
const TRUTHFUL: ReadonlySet<Format> = new Set([
  'mp4',
  'mov',
  'm4v',
  '3gp',
  'm4a',
  'alac',
  'mkv',
  'webm',
  'mp3',
  'flac',
  'flv',
]);

/** In seconds. */
interface PlayingTime {
  /** What the header says; 0 when it says nothing. */
  readonly claimed: number;
  /** What is there. */
  readonly counted: number;
}

type Check = (file: SniffedFile, time: PlayingTime) => boolean | Promise<boolean>;

const CHECKS: Readonly<Record<DemuxableFormat, Check>> = {
  mp4: endsInsideBox,
  mov: endsInsideBox,
  m4v: endsInsideBox,
  '3gp': endsInsideBox,
  m4a: endsInsideBox,
  alac: endsInsideBox,
  mkv: endsInsideSegment,
  webm: endsInsideSegment,
  avi: endsInsideRiff,
  wav: endsInsideSamples,
  wmv: endsInsideAsfData,
  wma: endsInsideAsfData,
  flv: endsInsideTag,
  mp3: lacksFrames,
  aac: (file) => endsInsideUnit(file, ADTS_FRAME),
  // Its header counts the samples, and so does ffmpeg.
  flac: (_file, time) => isShorter(time),
  ogg: lacksLastPage,
  opus: lacksLastPage,
  mpg: (file) => endsInsideUnit(file, PROGRAM_PACKET),
};

/** Seconds by which a count may differ from a claim: rounding, and priming that players leave out. */
const TOLERANCE = 0.05;

function isShorter({ claimed, counted }: PlayingTime): boolean {
  return counted < claimed - TOLERANCE;
}

function rounded(seconds: number): number {
  return Math.round(seconds * 100) / 100;
}

const MAX_BOXES = 20_000;

/** ISO/IEC 14496-12: boxes one behind the other; the size 0 is that of a box to the end of the file. */
async function endsInsideBox(file: SniffedFile): Promise<boolean> {
  let at = 0;
  for (let boxes = 0; boxes < MAX_BOXES && at < file.size; boxes += 1) {
    const header = await file.read(at, 16);
    // Bytes behind the last box that are no box of their own are common.
    if (header.length < 8 || !/^[\w ©-]{4}$/.test(header.toString('latin1', 4, 8))) return false;
    const short = header.readUInt32BE(0);
    if (short === 0) return false;
    const size = short === 1 && header.length === 16 ? Number(header.readBigUInt64BE(8)) : short;
    if (size < 8) return false;
    at += size;
  }
  return at > file.size;
}

/** RFC 8794 and RFC 9559: one segment behind the EBML header; all ones is an unknown size. */
function endsInsideSegment({ head, size }: SniffedFile): boolean {
  const header = elementSize(head, 4);
  if (header === null) return false;
  const segment = header.begin + header.size;
  if (segment + 12 > head.length || head.readUInt32BE(segment) !== 0x18538067) return false;
  const data = elementSize(head, segment + 4);
  return data !== null && data.begin + data.size > size;
}

function elementSize(head: Buffer, at: number): { begin: number; size: number } | null {
  const width = Math.clz32(head[at] ?? 0) - 24 + 1;
  if (width > 8 || at + width > head.length) return null;
  const ones = 2 ** (7 * width) - 1;
  let size = (head[at] ?? 0) & (0xff >> width);
  for (let next = 1; next < width; next += 1) size = size * 256 + (head[at + next] ?? 0);
  return size >= ones ? null : { begin: at + width, size };
}

/** Writers that cannot go back leave one of these or more. */
const UNKNOWN_RIFF_BYTES = 0x7fff_0000;
/** Some writers count the header twice. */
const RIFF_SLACK = 16;

/** Long files are several RIFF lists, one behind the other (OpenDML). */
async function endsInsideRiff(file: SniffedFile): Promise<boolean> {
  let at = 0;
  for (let lists = 0; lists < MAX_BOXES; lists += 1) {
    const header = await file.read(at, 8);
    if (header.length < 8 || header.toString('latin1', 0, 4) !== 'RIFF') return false;
    const bytes = header.readUInt32LE(4);
    if (bytes >= UNKNOWN_RIFF_BYTES) return false;
    at += 8 + bytes + (bytes % 2);
    if (at > file.size + RIFF_SLACK) return true;
  }
  return false;
}

/** The samples' own chunk counts: the size of the whole is often wrong. RF64 says it in a chunk before. */
async function endsInsideSamples(file: SniffedFile): Promise<boolean> {
  let [at, long] = [12, 0];
  for (let chunks = 0; chunks < 1000; chunks += 1) {
    const header = await file.read(at, 24);
    if (header.length < 8) return false;
    const name = header.toString('latin1', 0, 4);
    const bytes = header.readUInt32LE(4);
    if (name === 'ds64' && header.length === 24) long = Number(header.readBigUInt64LE(16));
    if (name === 'data') {
      const samples = bytes === 0xffff_ffff ? long : bytes;
      const isKnown = samples === long || samples < UNKNOWN_RIFF_BYTES;
      return isKnown && at + 8 + samples > file.size;
    }
    at += 8 + bytes + (bytes % 2);
  }
  return false;
}

/** ASF 1.2: the data object follows the header object; both begin with 16 bytes of name and 8 of size. */
async function endsInsideAsfData(file: SniffedFile): Promise<boolean> {
  const at = Number(file.head.readBigUInt64LE(16));
  const data = await file.read(at, 24);
  return data.length === 24 && at + Number(data.readBigUInt64LE(16)) > file.size;
}

/** Each tag's length stands behind it once more. */
async function endsInsideTag(file: SniffedFile): Promise<boolean> {
  const length = (await file.read(file.size - 4, 4)).readUInt32BE(0);
  if (length === 0) return false;
  if (length < 11 || length > file.size - 4) return true;
  const tag = await file.read(file.size - 4 - length, 4);
  return tag.readUIntBE(1, 3) + 11 !== length;
}

/** Behind the tags in front, the first frame may hold the number of all: `Xing` for variable rates, `Info` for others. */
async function lacksFrames(file: SniffedFile, time: PlayingTime): Promise<boolean> {
  const first = await file.read(await endOfTags(file), 256);
  const at = Math.max(first.indexOf('Xing'), first.indexOf('Info'));
  const countsFrames = at !== -1 && ((first[at + 7] ?? 0) & 1) === 1;
  return countsFrames ? isShorter(time) : endsInsideUnit(file, MP3_FRAME);
}

/** A page is 27 bytes, up to 255 lengths, and up to 255 bytes for each. */
const OGG_PAGE_BYTES = 27 + 255 + 255 * 255;

/** RFC 3533: the last page of a stream has the mark 4. */
async function lacksLastPage(file: SniffedFile): Promise<boolean> {
  const tail = await file.read(Math.max(0, file.size - 2 * OGG_PAGE_BYTES), 2 * OGG_PAGE_BYTES);
  const at = tail.lastIndexOf('OggS\0');
  if (at === -1) return false;
  const segments = tail[at + 26] ?? 0;
  const lengths = tail.subarray(at + 27, at + 27 + segments);
  const end = at + 27 + segments + lengths.reduce((sum, length) => sum + length, 0);
  const isLast = ((tail[at + 5] ?? 0) & 4) === 4;
  return !isLast || end > tail.length || at + 27 > tail.length;
}
