/** Chunks of RIFF files: WAV, AVI, WebP. */
import { hasBytes } from '#worker-image/engine/containers/has-bytes.ts';
import type { FileReader } from '#worker-image/engine/containers/file-reader.ts';

/** Offsets in the file, or in the buffer that was parsed. */
export interface RiffChunk {
  /** Four characters, Latin-1. */
  readonly id: string;
  readonly body: number;
  /** Size of the payload by the header, in bytes: unpadded, and possibly beyond the file. */
  readonly size: number;
}

const HEADER_BYTES = 8;
/** `RIFF`, and its 64-bit successors. */
const MAGIC: readonly string[] = ['RIFF', 'RF64', 'BW64'];

/** Returns the form type, such as `WAVE`; null when the file is not RIFF. */
export function riffForm(head: Buffer): string | null {
  if (!MAGIC.some((magic) => hasBytes(head, magic)) || head.length < 12) return null;
  return head.toString('latin1', 8, 12);
}

/** Yields the chunks from an offset on, at most `maxChunks`. Ends where no whole header is left. */
export async function* readRiffChunks(file: FileReader, offset: number, maxChunks: number): AsyncGenerator<RiffChunk> {
  let at = offset;
  for (let chunks = 0; chunks < maxChunks; chunks += 1) {
    const header = await file.read(at, HEADER_BYTES);
    if (header.length < HEADER_BYTES) return;
    const chunk = parseHeader(header, at);
    yield chunk;
    at = nextChunk(chunk);
  }
}

/** Parses the chunks of a buffer, in which each must end; null when one does not. */
export function parseRiffChunks(bytes: Buffer): RiffChunk[] | null {
  const chunks: RiffChunk[] = [];
  let at = 0;
  while (at + HEADER_BYTES <= bytes.length) {
    const chunk = parseHeader(bytes.subarray(at), at);
    if (chunk.body + chunk.size > bytes.length) return null;
    chunks.push(chunk);
    at = nextChunk(chunk);
  }
  return chunks;
}

/** Returns the offset behind a chunk and its padding to an even size. */
export function nextChunk({ body, size }: RiffChunk): number {
  return body + size + (size % 2);
}

function parseHeader(header: Buffer, at: number): RiffChunk {
  return { id: header.toString('latin1', 0, 4), body: at + HEADER_BYTES, size: header.readUInt32LE(4) };
}
