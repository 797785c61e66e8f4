import { parseRiffChunks, riffForm } from '#worker-image/engine/containers/riff.ts';

const RIFF_HEADER_BYTES = 12;
/** Tag of three bytes, start code of three, width and height of two each (RFC 6386, 9.1). */
const FRAME_HEADER_BYTES = 10;
const START_CODE = 0x9d012a;
/** Chunks of a still image without transparency. */
const OPAQUE_CHUNKS: ReadonlySet<string> = new Set(['VP8X', 'ICCP', 'VP8 ', 'EXIF', 'XMP ']);

/**
 * Returns whether a WebP file is one lossy image without transparency whose parts have their whole length: the chunks fill the
 * file, and the first partition ends within its frame. A VP8 decoder takes any bits for coefficients, so that it notices
 * a missing end only.
 */
export function isWholeLossyWebp(file: Buffer): boolean {
  if (riffForm(file) !== 'WEBP' || file.readUInt32LE(4) + 8 !== file.length) return false;
  const chunks = parseRiffChunks(file.subarray(RIFF_HEADER_BYTES));
  const frames = chunks?.filter(({ id }) => id === 'VP8 ') ?? [];
  const [frame] = frames;
  if (chunks === null || frame === undefined || frames.length > 1) return false;
  if (!chunks.every(({ id }) => OPAQUE_CHUNKS.has(id))) return false;
  const begin = RIFF_HEADER_BYTES + frame.body;
  return isWholeKeyFrame(file.subarray(begin, begin + frame.size));
}

function isWholeKeyFrame(frame: Buffer): boolean {
  if (frame.length < FRAME_HEADER_BYTES || frame.readUIntBE(3, 3) !== START_CODE) return false;
  const tag = frame.readUIntLE(0, 3);
  const isShownKeyFrame = (tag & 1) === 0 && (tag & 16) !== 0;
  return isShownKeyFrame && FRAME_HEADER_BYTES + (tag >>> 5) < frame.length;
}
