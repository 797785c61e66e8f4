/** Segments of a JPEG before its first scan. Source: ITU-T T.81, table B.1. */
import type { FileReader } from '#worker-image/engine/containers/file-reader.ts';

/** Markers without length and content: TEM, restarts, start and end of image. */
function isAlone(marker: number): boolean {
  return marker === 0x01 || (marker >= 0xd0 && marker <= 0xd9);
}

/** Markers in the range of frames that are tables: DHT, JPG, DAC. */
const NO_FRAMES: readonly number[] = [0xc4, 0xc8, 0xcc];
const START_OF_SCAN = 0xda;

function isFrame(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && !NO_FRAMES.includes(marker);
}

interface Segment {
  readonly marker: number;
  /** Offset of the marker in the file. */
  readonly start: number;
}

/** Returns the first segment with a marker that matches, up to the first scan; null when there is none. */
function findSegment(file: Buffer, matches: (marker: number) => boolean): Segment | null {
  let at = 2;
  while (at + 4 <= file.length) {
    const marker = file[at + 1] ?? 0;
    if (file[at] !== 0xff || marker === 0xff || marker === 0) at += 1;
    else if (isAlone(marker)) at += 2;
    else if (matches(marker)) return { marker, start: at };
    else if (marker === START_OF_SCAN) return null;
    else at += 2 + file.readUInt16BE(at + 2);
  }
  return null;
}

/**
 * Returns the marker that starts the frame of a JPEG, 0xc0 to 0xcf, which tells how its image is coded. Returns null for a
 * file without one before its first scan.
 */
export function jpegFrameMarker(file: Buffer): number | null {
  return findSegment(file, isFrame)?.marker ?? null;
}

/** Maximum size of the headers that are read, in bytes. */
const MAX_HEADER_BYTES = 512 * 1024;

/** Reads the headers of a JPEG: everything before its first scan, or its first 512 KiB. */
export async function readJpegHeaders(jpeg: FileReader): Promise<Buffer> {
  const scan = startOfScan(jpeg.head);
  if (scan !== null) return jpeg.head.subarray(0, scan);
  const start = await jpeg.read(0, MAX_HEADER_BYTES);
  return start.subarray(0, startOfScan(start) ?? start.length);
}

function startOfScan(file: Buffer): number | null {
  return findSegment(file, (marker) => marker === START_OF_SCAN)?.start ?? null;
}
