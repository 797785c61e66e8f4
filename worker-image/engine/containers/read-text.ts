/** Reads a text file of any common encoding, in pieces. */
import { isUtf8 } from 'node:buffer';
import { open } from 'node:fs/promises';

const UTF8 = 'utf-8';
/** Byte order mark of UTF-8. */
const MARK = Buffer.from('\ufeff');
const MAX_CHARACTER_BYTES = 4;
const CHUNK_BYTES = 256 * 1024;

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
export async function* readText(path: string, options: ReadTextOptions = {}): AsyncGenerator<string> {
  const encoding = await encodingOf(path, options);
  yield* decoded(path, encoding, options);
}

/** Yields the same text in UTF-8. Each piece is valid until the next one. */
export async function* readUtf8(
  path: string,
  options: Omit<ReadTextOptions, 'declared'> = {},
): AsyncGenerator<Uint8Array> {
  const encoding = await encodingOf(path, options);
  if (encoding === UTF8) yield* withoutMark(chunksOf(path, options));
  else for await (const text of decoded(path, encoding, options)) yield Buffer.from(text);
}

async function* decoded(path: string, encoding: string, options: ReadTextOptions): AsyncGenerator<string> {
  const decoder = new TextDecoder(encoding);
  for await (const chunk of chunksOf(path, options)) {
    const text = decoder.decode(chunk, { stream: true });
    if (text !== '') yield text;
  }
  const rest = decoder.decode();
  if (rest !== '') yield rest;
}

async function* withoutMark(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let isFirst = true;
  for await (const chunk of chunks) {
    yield isFirst && chunk.subarray(0, MARK.length).equals(MARK) ? chunk.subarray(MARK.length) : chunk;
    isFirst = false;
  }
}

/** Returns the encoding. Warns when nothing indicates it. */
async function encodingOf(
  path: string,
  { signal, declared = () => null, warn }: Omit<ReadTextOptions, 'onBytes'>,
): Promise<string> {
  const head = await headOf(path);
  const marked = utf16WithMark(head);
  if (marked !== null) return marked;
  const named = declared(head);
  if (named === SEVEN_BITS) return named;
  const found = utf16WithoutMark(head) ?? ((await isUtf8File(path, signal)) ? UTF8 : named);
  if (found === null) warn?.(GUESSED);
  return found ?? 'windows-1252';
}

function utf16WithMark(head: Buffer): string | null {
  if (head[0] === 0xff && head[1] === 0xfe) return 'utf-16le';
  return head[0] === 0xfe && head[1] === 0xff ? 'utf-16be' : null;
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

async function isUtf8File(path: string, signal: AbortSignal | undefined): Promise<boolean> {
  let rest = Buffer.alloc(0);
  for await (const chunk of chunksOf(path, { signal })) {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    const end = lastCharacterEnd(bytes);
    if (!isUtf8(bytes.subarray(0, end))) return false;
    rest = Buffer.from(bytes.subarray(end));
  }
  return isUtf8(rest);
}

/** Returns the length without the bytes of an incomplete character at the end. */
function lastCharacterEnd(bytes: Buffer): number {
  for (let back = 1; back < MAX_CHARACTER_BYTES; back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    const isLead = byte >= 0xc0;
    if (isLead) return bytes.length - back;
    if (byte < 0x80) break;
  }
  return bytes.length;
}

interface ReadOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onBytes?: ((bytes: number) => void) | undefined;
}

/** Yields the bytes of a file in one buffer. @throws the signal's reason on abort. */
export async function* chunksOf(path: string, { signal, onBytes }: ReadOptions): AsyncGenerator<Buffer> {
  const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
  await using file = await open(path);
  for (let bytes = 0; ;) {
    signal?.throwIfAborted();
    const { bytesRead } = await file.read(buffer, 0, buffer.length, null);
    if (bytesRead === 0) return;
    bytes += bytesRead;
    onBytes?.(bytes);
    yield buffer.subarray(0, bytesRead);
  }
}
