/** Reads a text file of any common encoding, in pieces. */
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';

/** An encoding that uses bytes of ASCII only, so its text is valid UTF-8 too. */
const SEVEN_BITS = 'iso-2022-jp';

const GUESSED =
  'The text is not UTF-8 and declares no encoding: it was read as Windows-1252. If letters are wrong, save it as UTF-8 and send it again.';

interface ReadTextOptions {
  readonly signal?: AbortSignal;
  /** Called with the bytes read so far. */
  readonly onBytes?: (bytes: number) => void;
  /** Returns the encoding that the first bytes declare, or null. */
  readonly declared?: (head: Buffer) => string | null;
  /** Called when the encoding is guessed and letters may be wrong. */
  readonly warn?: (warning: string) => void;
}

/**
 * Yields the text without its byte order mark: UTF-16 by its mark or its zero bytes, UTF-8 if the whole file is
 * valid, else the declared encoding, else Windows-1252, in which every byte is a character.
 */
export async function* readText(
  path: string,
  { signal, onBytes, declared = () => null, warn }: ReadTextOptions = {},
): AsyncGenerator<string> {
  const encoding = await encodingOf(path, declared, signal);
  if (encoding === null) warn?.(GUESSED);
  const decoder = new TextDecoder(encoding ?? 'windows-1252');
  let bytes = 0;
  for await (const chunk of chunksOf(path, signal)) {
    bytes += chunk.length;
    onBytes?.(bytes);
    const text = decoder.decode(chunk, { stream: true });
    if (text !== '') yield text;
  }
  const rest = decoder.decode();
  if (rest !== '') yield rest;
}

/** Returns the encoding, or null when nothing indicates it. */
async function encodingOf(
  path: string,
  declared: (head: Buffer) => string | null,
  signal: AbortSignal | undefined,
): Promise<string | null> {
  const head = await headOf(path);
  if (head[0] === 0xff && head[1] === 0xfe) return 'utf-16le';
  if (head[0] === 0xfe && head[1] === 0xff) return 'utf-16be';
  const named = declared(head);
  if (named === SEVEN_BITS) return named;
  return utf16WithoutMark(head) ?? ((await isUtf8(path, signal)) ? 'utf-8' : named);
}

async function headOf(path: string): Promise<Buffer> {
  await using file = await open(path);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(4096), 0, 4096, 0);
  return buffer.subarray(0, bytesRead);
}

/** Detects UTF-16 without a mark: every second byte of Latin text is zero; UTF-8 text has no zero bytes. */
function utf16WithoutMark(head: Buffer): string | null {
  const zeros = [0, 0];
  head.forEach((byte, index) => {
    if (byte === 0) zeros[index % 2] = (zeros[index % 2] ?? 0) + 1;
  });
  const [even = 0, odd = 0] = zeros;
  const half = head.length / 2;
  if (odd > half * 0.4 && even < half * 0.05) return 'utf-16le';
  return even > half * 0.4 && odd < half * 0.05 ? 'utf-16be' : null;
}

async function isUtf8(path: string, signal: AbortSignal | undefined): Promise<boolean> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  try {
    for await (const chunk of chunksOf(path, signal)) decoder.decode(chunk, { stream: true });
    decoder.decode();
    return true;
  } catch (error) {
    if (error instanceof TypeError) return false;
    throw error;
  }
}

function chunksOf(path: string, signal: AbortSignal | undefined): AsyncIterable<Buffer> {
  return createReadStream(path, { highWaterMark: 256 * 1024, ...(signal === undefined ? {} : { signal }) });
}
