/**
 * Detects media files whose end is missing, and WAV files that contain more than they declare. ffmpeg processes both
 * without an error. Containers declare their length or that of their parts, so only a few bytes of the file are read.
 */
import type { Format } from '#crds/catalogue/formats.ts';
import { parseAsfObject } from '#worker-image/engine/containers/asf.ts';
import { MATROSKA_SEGMENT, parseEbmlElement } from '#worker-image/engine/containers/ebml.ts';
import { withFileReader, type FileReader } from '#worker-image/engine/containers/file-reader.ts';
import { endOfId3Tags } from '#worker-image/engine/containers/id3.ts';
import { readTopBoxes } from '#worker-image/engine/containers/iso-boxes.ts';
import { MAX_OGG_PAGE_BYTES, parseOggPage } from '#worker-image/engine/containers/ogg.ts';
import { nextChunk, readRiffChunks, type RiffChunk } from '#worker-image/engine/containers/riff.ts';
import type { Facts, Produced, Work } from '#worker-image/engine/handler.ts';
import {
  ADTS_FRAME,
  endsInsideFrame,
  MP3_FRAME,
  PROGRAM_STREAM_PACKET,
} from '#worker-image/engine/media/frame-chain.ts';
import type { Probe } from '#worker-image/engine/media/probe.ts';
import { isDemuxable, type DemuxableFormat } from '#worker-image/tools/ffmpeg.ts';

interface TimedFacts extends Facts {
  readonly durationSeconds: number;
  readonly probe: Pick<Probe, 'claimedSeconds'>;
}

/** Returns the facts of an input, with a warning when the file is truncated, or is not read to its end. */
export async function withTruncationWarning<T extends TimedFacts>(
  { path, format }: Pick<Work['input'], 'path' | 'format'>,
  facts: T,
): Promise<T> {
  if (!isDemuxable(format)) return facts;
  const isTruncated = DETECTORS[format];
  const declared = DECLARES_DURATION.has(format) ? facts.probe.claimedSeconds : 0;
  const time = { declared, readable: facts.durationSeconds };
  const found = await withFileReader(path, async (file) => isTruncated(file, time));
  if (found === false) return facts;
  return { ...facts, warning: found === true ? warningOf(time) : found };
}

/** Refuses a truncated output, except of an input that was truncated. @throws Error. */
export async function requireEnd(
  input: Facts,
  output: Pick<Produced<TimedFacts>, 'path' | 'format' | 'facts'>,
): Promise<void> {
  if (input.warning !== undefined) return;
  const { warning } = await withTruncationWarning(output, { ...output.facts });
  if (warning !== undefined) throw new Error(`the output has no end: ${warning}`);
}

function warningOf(time: PlayingTime): string {
  return isShorter(time)
    ? `The file is truncated: ${rounded(time.readable)} of ${rounded(time.declared)} seconds could be read. The result contains those.`
    : 'The file is truncated: its end is missing. The result contains what could be read.';
}

/** Formats whose header declares the duration; for others ffprobe estimates it by size and bit rate. */
const DECLARES_DURATION: ReadonlySet<Format> = new Set([
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

/** Playing times in seconds. */
interface PlayingTime {
  /** Time that the header declares; 0 for none. */
  readonly declared: number;
  /** Time of the packets that can be read. */
  readonly readable: number;
}

/** Whether the file is truncated; a warning for a file of which ffmpeg does not read the end. */
type Truncation = boolean | string;
type TruncationDetector = (file: FileReader, time: PlayingTime) => Truncation | Promise<Truncation>;

const DETECTORS: Readonly<Record<DemuxableFormat, TruncationDetector>> = {
  mp4: endsInsideBox,
  mov: endsInsideBox,
  m4v: endsInsideBox,
  '3gp': endsInsideBox,
  m4a: endsInsideBox,
  alac: endsInsideBox,
  mkv: endsInsideSegment,
  webm: endsInsideSegment,
  avi: endsInsideRiffList,
  wav: endsInsideSamples,
  wmv: endsInsideAsfData,
  wma: endsInsideAsfData,
  flv: endsInsideFlvTag,
  mp3: lacksMp3Frames,
  aac: (file) => endsInsideFrame(file, ADTS_FRAME),
  // The header declares the number of samples.
  flac: (_file, time) => isShorter(time),
  ogg: lacksLastOggPage,
  opus: lacksLastOggPage,
  mpg: (file) => endsInsideFrame(file, PROGRAM_STREAM_PACKET),
};

/** Tolerated difference of the two times, for rounding and encoder priming, in seconds. */
const TOLERANCE = 0.05;

function isShorter({ declared, readable }: PlayingTime): boolean {
  return readable < declared - TOLERANCE;
}

function rounded(seconds: number): number {
  return Math.round(seconds * 100) / 100;
}

/** Maximum number of boxes or lists that are read; fragmented files have many. */
const MAX_BOXES = 20_000;

/** Other bytes behind the last box, whose type is then not of these characters, are common. */
const BOX_TYPE = /^[\w ©-]{4}$/;

async function endsInsideBox(file: FileReader): Promise<boolean> {
  const boxes = await readTopBoxes(file, MAX_BOXES);
  return boxes.every(({ type }) => BOX_TYPE.test(type)) && boxes.at(-1)?.isTruncated === true;
}

/** Compares the size of the segment behind the EBML header. Source: RFC 9559. */
function endsInsideSegment({ head, size }: FileReader): boolean {
  const header = parseEbmlElement(head, 0);
  if (header === null || header.size === null) return false;
  const segment = parseEbmlElement(head, header.body + header.size);
  return segment?.id === MATROSKA_SEGMENT && segment.size !== null && segment.body + segment.size > size;
}

/** Sizes from here on are placeholders of writers that could not seek back. */
const UNKNOWN_RIFF_BYTES = 0x7fff_0000;
/** Tolerated excess of a list's size: some writers count its header twice. */
const RIFF_SLACK = 16;

/** Compares the sizes of the RIFF lists, of which long AVI files have several (OpenDML). */
async function endsInsideRiffList(file: FileReader): Promise<boolean> {
  for await (const list of readRiffChunks(file, 0, MAX_BOXES)) {
    if (list.id !== 'RIFF' || list.size >= UNKNOWN_RIFF_BYTES) return false;
    if (nextChunk(list) > file.size + RIFF_SLACK) return true;
  }
  return false;
}

const RIFF_HEADER_BYTES = 12;
const MAX_WAV_CHUNKS = 1000;

/** Compares the size of the `data` chunk: that of the whole WAV is often wrong. RF64 declares it in `ds64`. */
async function endsInsideSamples(file: FileReader): Promise<Truncation> {
  let long = 0;
  for await (const { id, body, size } of readRiffChunks(file, RIFF_HEADER_BYTES, MAX_WAV_CHUNKS)) {
    if (id === 'ds64') {
      const sizes = await file.read(body, 16);
      if (sizes.length === 16) long = Number(sizes.readBigUInt64LE(8));
    }
    if (id === 'data') {
      const samples = size === 0xffff_ffff ? long : size;
      const isKnown = samples === long || samples < UNKNOWN_RIFF_BYTES;
      if (isKnown && body + samples > file.size) return true;
      // ffmpeg reads samples of unknown size to the end of the file.
      return samples === 0 ? false : undeclaredWarning(file, { body, size: samples });
    }
  }
  return false;
}

/** Bytes behind the samples that are not worth a warning. */
const MAX_UNDECLARED_BYTES = 4096;
/** First characters of a chunk, and of the tags that some programs append without one. */
const CHUNK_ID = /^[\w ]{4}$/;
const APPENDED_TAG = /^(?:ID3|TAG|APETAGEX)/;

/**
 * Returns a warning when neither a chunk nor a tag follows the samples: the declared size is then too small, as that of
 * a recording that was interrupted, or of one above 4 GiB whose size wrapped around.
 */
async function undeclaredWarning(file: FileReader, data: Pick<RiffChunk, 'body' | 'size'>): Promise<string | false> {
  const end = data.body + data.size;
  const more = file.size - end;
  if (more <= MAX_UNDECLARED_BYTES) return false;
  // Some programs do not pad a chunk of an odd size.
  for (const at of [end, end + (data.size % 2)]) {
    const header = await file.read(at, 8);
    if (APPENDED_TAG.test(header.toString('latin1'))) return false;
    const isChunk = CHUNK_ID.test(header.toString('latin1', 0, 4)) && header.readUInt32LE(4) <= more + RIFF_SLACK;
    if (isChunk) return false;
  }
  return `The header of the wav file declares ${data.size} bytes of samples, and ${more} bytes follow them. The result contains the declared samples. Repair the size of the data chunk, and send the file again, to process all.`;
}

/** Compares the size of the data object, which follows the header object. */
async function endsInsideAsfData(file: FileReader): Promise<boolean> {
  const header = parseAsfObject(file.head, 0);
  if (header === null) return false;
  const data = parseAsfObject(await file.read(header.end, 24), header.end);
  return data !== null && data.end > file.size;
}

/** Compares the length of the last tag with its copy behind the tag. */
async function endsInsideFlvTag(file: FileReader): Promise<boolean> {
  const length = (await file.read(file.size - 4, 4)).readUInt32BE(0);
  if (length === 0) return false;
  if (length < 11 || length > file.size - 4) return true;
  const tag = await file.read(file.size - 4 - length, 4);
  return tag.readUIntBE(1, 3) + 11 !== length;
}

/** Compares the durations where the first frame holds the number of frames (`Xing`, `Info`), else the last frames. */
async function lacksMp3Frames(file: FileReader, time: PlayingTime): Promise<boolean> {
  const first = await file.read(await endOfId3Tags(file), 256);
  const at = Math.max(first.indexOf('Xing'), first.indexOf('Info'));
  const hasFrameCount = at !== -1 && ((first[at + 7] ?? 0) & 1) === 1;
  return hasFrameCount ? isShorter(time) : endsInsideFrame(file, MP3_FRAME);
}

/** Returns whether the last page is truncated, or does not end its stream. */
async function lacksLastOggPage(file: FileReader): Promise<boolean> {
  const tailBytes = 2 * MAX_OGG_PAGE_BYTES;
  const tail = await file.read(Math.max(0, file.size - tailBytes), tailBytes);
  const at = tail.lastIndexOf('OggS\0');
  if (at === -1) return false;
  const page = parseOggPage(tail, at);
  return page === null || !page.endsStream || page.end > tail.length;
}
