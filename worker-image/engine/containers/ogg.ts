/** Pages and consecutive parts of Ogg files. Source: RFC 3533. */
import type { FileReader } from '#worker-image/engine/containers/file-reader.ts';
import { hasBytes } from '#worker-image/engine/containers/has-bytes.ts';

export interface OggPage {
  /** First page of a logical stream. */
  readonly beginsStream: boolean;
  /** Last page of a logical stream. */
  readonly endsStream: boolean;
  readonly body: number;
  /** End by the page's segment table, which may be outside the buffer. */
  readonly end: number;
}

const HEADER_BYTES = 27;
/** Maximum size of a page, in bytes: header, 255 segment sizes, 255 bytes per segment. */
export const MAX_OGG_PAGE_BYTES = HEADER_BYTES + 255 + 255 * 255;

/** Parses the page at an offset; null when none begins there or its header is truncated. */
export function parseOggPage(bytes: Buffer, at: number): OggPage | null {
  if (!hasBytes(bytes, 'OggS', at) || at + HEADER_BYTES > bytes.length) return null;
  const flags = bytes.readUInt8(at + 5);
  const segments = bytes.readUInt8(at + 26);
  const body = at + HEADER_BYTES + segments;
  const size = bytes.subarray(at + HEADER_BYTES, body).reduce((sum, segment) => sum + segment, 0);
  return { beginsStream: (flags & 2) !== 0, endsStream: (flags & 4) !== 0, body, end: body + size };
}

/** Bytes that are read at a time: many pages. */
const READ_BYTES = 16 * MAX_OGG_PAGE_BYTES;

interface PageInFile extends OggPage {
  /** Size of the whole page, in bytes. */
  readonly size: number;
  readonly payload: Buffer;
  /** Position of the page's last sample: 0 for pages of headers, -1 when no packet ends on the page. */
  readonly granule: bigint;
}

/** Reads all whole pages. Skips bytes that are not a page, as ffmpeg does. */
async function* readPages(file: FileReader): AsyncGenerator<PageInFile> {
  for (let start = 0; start < file.size;) {
    const bytes = await file.read(start, READ_BYTES);
    let at = 0;
    let page = parseOggPage(bytes, 0);
    for (; page !== null && page.end <= bytes.length; page = parseOggPage(bytes, at)) {
      const { body, end } = page;
      yield { ...page, size: end - at, payload: bytes.subarray(body, end), granule: bytes.readBigInt64LE(at + 6) };
      at = end;
    }
    start += at === 0 ? nextCapture(bytes) : at;
  }
}

/** Returns the offset of the next bytes that may begin a page, behind the first byte. */
function nextCapture(bytes: Buffer): number {
  const next = bytes.indexOf('OggS', 1);
  // The pattern may be cut at the end of the bytes.
  return next === -1 ? Math.max(1, bytes.length - 3) : next;
}

/** Bytes of the identification headers that the decoder of a stream depends on, by the start of the header. */
const PARAMETERS: readonly (readonly [start: string, from: number, to: number])[] = [
  // Number of channels, sample rate.
  ['\x01vorbis', 11, 16],
  // Gain, mapping of the channels: without a mapping, ffmpeg decodes mono and stereo alike.
  ['OpusHead', 16, 276],
  // Sample rate, number of channels.
  ['\x7fFLAC', 27, 30],
  // Sample rate, mode, number of channels.
  ['Speex   ', 36, 52],
];

/** Returns the codec and parameters of an audio stream by its first page; empty for other streams. */
function parametersOf(payload: Buffer): string {
  const found = PARAMETERS.find(([start]) => hasBytes(payload, start));
  if (found === undefined) return '';
  const [start, from, to] = found;
  return start + payload.toString('latin1', from, to);
}

export interface OggStructure {
  /** The file has consecutive parts with their own headers and clocks, such as the songs of an internet radio. */
  readonly isChained: boolean;
  /** All parts with audio have the same codec, sample rate, channels and output gain. */
  readonly isUniform: boolean;
  /** Size of the pages without those of headers, which contain tags and cover art, in bytes. */
  readonly audioBytes: number;
}

/** Reads the pages of an Ogg file to its end. */
export async function readOggStructure(file: FileReader): Promise<OggStructure> {
  const parameters = new Set<string>();
  let parts = 0;
  let part = '';
  let beginsPart = false;
  let isInHeaders = true;
  let audioBytes = 0;
  for await (const { beginsStream, granule, payload, size } of readPages(file)) {
    if (beginsStream) {
      part = (beginsPart ? part : '') + parametersOf(payload);
      isInHeaders = true;
    } else if (beginsPart) {
      parts += 1;
      if (part !== '') parameters.add(part);
    }
    beginsPart = beginsStream;
    if (granule > 0n) isInHeaders = false;
    if (!isInHeaders) audioBytes += size;
  }
  return { isChained: parts > 1, isUniform: parameters.size <= 1, audioBytes };
}
