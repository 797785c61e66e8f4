/** Removes metadata from a WebP chunk by chunk. */
import { parseRiffChunks } from '#worker-image/engine/containers/riff.ts';
import { makeOrientationTiff, readOrientation, UPRIGHT } from '#worker-image/engine/image/strip/orientation-exif.ts';
import { brokenFile } from '#worker-image/engine/containers/broken-file.ts';

interface WebpChunk {
  readonly type: string;
  readonly data: Buffer;
}

const KEPT: ReadonlySet<string> = new Set(['VP8X', 'VP8 ', 'VP8L', 'ALPH', 'ANIM', 'ANMF', 'ICCP']);
const KEPT_IN_FRAME: ReadonlySet<string> = new Set(['VP8 ', 'VP8L', 'ALPH']);
const FRAME_HEADER = 16;
const EXIF_FLAG = 0x08;
const XMP_FLAG = 0x04;

/** Returns the file without metadata. @throws MediaError processing_failed when the chunks do not fit into the file. */
export function stripWebp(file: Buffer): Buffer {
  const length = file.length < 12 ? 0 : Math.min(file.length, 8 + file.readUInt32LE(4));
  const chunks = readChunks(file.subarray(12, length));
  const orientation = orientationOf(chunks.find(({ type }) => type === 'EXIF')?.data);
  const hasExif = orientation !== UPRIGHT;
  const kept = chunks.filter(({ type }) => KEPT.has(type)).map((chunk) => writeChunk(cleaned(chunk, hasExif)));
  if (hasExif) kept.push(writeChunk({ type: 'EXIF', data: makeOrientationTiff(orientation) }));
  const body = Buffer.concat([Buffer.from('WEBP', 'latin1'), ...kept]);
  const head = Buffer.from('RIFF\0\0\0\0', 'latin1');
  head.writeUInt32LE(body.length, 4);
  return Buffer.concat([head, body]);
}

function readChunks(bytes: Buffer): WebpChunk[] {
  const parsed = parseRiffChunks(bytes);
  if (parsed === null) throw brokenFile('WebP', 'a chunk is truncated');
  const chunks = parsed.map(({ id, body, size }) => ({ type: id, data: bytes.subarray(body, body + size) }));
  if (!chunks.some(({ type }) => type.startsWith('VP8') || type === 'ANMF'))
    throw brokenFile('WebP', 'it contains no image');
  return chunks;
}

/** Returns the orientation. Some encoders write JPEG's `Exif\0\0` before the structure. */
function orientationOf(exif: Buffer | undefined): number {
  if (exif === undefined) return UPRIGHT;
  return readOrientation(exif.toString('latin1', 0, 4) === 'Exif' ? exif.subarray(6) : exif);
}

function cleaned(chunk: WebpChunk, hasExif: boolean): WebpChunk {
  if (chunk.type === 'ANMF') return { type: 'ANMF', data: cleanedFrame(chunk.data) };
  if (chunk.type !== 'VP8X' || chunk.data.length === 0) return chunk;
  const data = Buffer.from(chunk.data);
  data[0] = ((data[0] ?? 0) & ~(EXIF_FLAG | XMP_FLAG)) | (hasExif ? EXIF_FLAG : 0);
  return { type: 'VP8X', data };
}

function cleanedFrame(data: Buffer): Buffer {
  const parts = readChunks(data.subarray(FRAME_HEADER)).filter(({ type }) => KEPT_IN_FRAME.has(type));
  return Buffer.concat([data.subarray(0, FRAME_HEADER), ...parts.map(writeChunk)]);
}

function writeChunk({ type, data }: WebpChunk): Buffer {
  const head = Buffer.alloc(8);
  head.write(type, 0, 'latin1');
  head.writeUInt32LE(data.length, 4);
  return Buffer.concat([head, data, Buffer.alloc(data.length % 2)]);
}
