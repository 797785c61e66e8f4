/** Boxes of ISO base media files: MP4, QuickTime, HEIF, AVIF. Source: ISO/IEC 14496-12, 4.2. */
import type { FileReader } from '#worker-image/engine/containers/file-reader.ts';

/** Offsets in the file, or in the buffer that was parsed. */
export interface IsoBox {
  /** Four characters, Latin-1. */
  readonly type: string;
  /** First byte of the header. */
  readonly start: number;
  /** First byte of the payload. */
  readonly body: number;
  /** End of the payload, inside the container. */
  readonly end: number;
  /** The size of the box exceeds its container. */
  readonly isTruncated: boolean;
}

const SHORT_HEADER_BYTES = 8;
const LONG_HEADER_BYTES = 16;
/** Maximum number of boxes that are read of one container. */
const MAX_BOXES = 10_000;

/** Returns the outermost boxes of a file. Stops before a box whose header is truncated or whose size is impossible. */
export function readTopBoxes(file: FileReader, maxBoxes = MAX_BOXES): Promise<IsoBox[]> {
  return readFileBoxes(file, { body: 0, end: file.size }, maxBoxes);
}

/** Returns the boxes directly inside a range of a file, under the same rules. */
export async function readFileBoxes(
  file: FileReader,
  { body, end }: Pick<IsoBox, 'body' | 'end'>,
  maxBoxes = MAX_BOXES,
): Promise<IsoBox[]> {
  const limit = Math.min(end, file.size);
  const boxes: IsoBox[] = [];
  let at = body;
  while (at + SHORT_HEADER_BYTES <= limit && boxes.length < maxBoxes) {
    const box = parseHeader(await file.read(at, LONG_HEADER_BYTES), at, limit);
    if (box === null || box.end < box.body) break;
    boxes.push(box);
    at = box.end;
  }
  return boxes;
}

/** Returns all boxes of a file under a path of types, such as `moov`, `trak`, `mdia`. */
export async function readBoxesByPath(file: FileReader, path: readonly string[]): Promise<IsoBox[]> {
  let parents: readonly Pick<IsoBox, 'body' | 'end'>[] = [{ body: 0, end: file.size }];
  let found: IsoBox[] = [];
  for (const type of path) {
    const children = await Promise.all(parents.map((parent) => readFileBoxes(file, parent)));
    found = children.flat().filter((box) => box.type === type);
    // In `meta`, version and flags precede the boxes.
    parents = type === 'meta' ? found.map(({ body, end }) => ({ body: body + 4, end })) : found;
  }
  return found;
}

/** The boxes of a buffer, and why they do not fill their range; null when they do. */
export interface ParsedBoxes {
  readonly boxes: readonly IsoBox[];
  readonly fault: string | null;
}

/** Parses the boxes in a range of a buffer. Stops at the first one that is not inside the range. */
export function parseBoxes(bytes: Buffer, start: number, end: number): ParsedBoxes {
  const boxes: IsoBox[] = [];
  let at = start;
  while (at + SHORT_HEADER_BYTES <= end) {
    const box = parseHeader(bytes.subarray(at, end), at, end);
    if (box === null) return { boxes, fault: 'a box is truncated' };
    if (box.isTruncated || box.end < box.body) return { boxes, fault: 'a box is longer than its container' };
    boxes.push(box);
    at = box.end;
  }
  return { boxes, fault: null };
}

/** Parses the header of a box at the start of the bytes; null when it is truncated. Size 0 means up to `limit`. */
function parseHeader(header: Buffer, start: number, limit: number): IsoBox | null {
  if (header.length < SHORT_HEADER_BYTES) return null;
  const short = header.readUInt32BE(0);
  if (short === 1 && header.length < LONG_HEADER_BYTES) return null;
  const size = short === 0 ? limit - start : short === 1 ? Number(header.readBigUInt64BE(8)) : short;
  return {
    type: header.toString('latin1', 4, 8),
    start,
    body: start + (short === 1 ? LONG_HEADER_BYTES : SHORT_HEADER_BYTES),
    end: Math.min(start + size, limit),
    isTruncated: start + size > limit,
  };
}
