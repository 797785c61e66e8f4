/** Reads a text file of any common encoding, in pieces. */
import { isUtf8 } from 'node:buffer';
import { open } from 'node:fs/promises';
import { UTF8_MARK, Utf8Counter } from '#worker-image/engine/containers/utf8-counter.ts';

const UTF8 = 'utf-8';
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
  /** Called when the encoding is guessed and letters may be wrong, or when bytes are invalid. */
  readonly warn?: (warning: string) => void;
}

/**
 * Yields the text without its byte order mark: UTF-16 by its mark or its zero bytes, UTF-8 by its mark or if most of the
 * file is valid, else the declared encoding, else Windows-1252, in which every byte is a character.
 */
export async function* readText(path: string, options: ReadTextOptions = {}): AsyncGenerator<string> {
  const { encoding } = await encodingOf(path, options);
  yield* decoded(path, encoding, options);
}

/** Yields the same text in UTF-8. Each piece is valid until the next one. */
export async function* readUtf8(
  path: string,
  options: Omit<ReadTextOptions, 'declared'> = {},
): AsyncGenerator<Uint8Array> {
  const { encoding, isValid } = await encodingOf(path, options);
  if (encoding === UTF8 && isValid) yield* withoutMark(chunksOf(path, options));
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
    yield isFirst && chunk.subarray(0, UTF8_MARK.length).equals(UTF8_MARK) ? chunk.subarray(UTF8_MARK.length) : chunk;
    isFirst = false;
  }
}

interface Encoding {
  readonly encoding: string;
  /** False when the file has invalid bytes, which the decoder replaces, or when that is unknown. */
  readonly isValid: boolean;
}

async function encodingOf(path: string, options: Omit<ReadTextOptions, 'onBytes'>): Promise<Encoding> {
  const head = await headOf(path);
  const utf16 = utf16Name(head);
  if (utf16 !== null) return { encoding: utf16, isValid: false };
  const named = options.declared?.(head) ?? null;
  if (named === SEVEN_BITS) return { encoding: named, isValid: false };
  if (await isUtf8File(path, options.signal)) return { encoding: UTF8, isValid: true };
  return { encoding: await likelyEncoding(path, { ...options, head, named }), isValid: false };
}

interface Likely extends Omit<ReadTextOptions, 'onBytes' | 'declared'> {
  readonly head: Buffer;
  readonly named: string | null;
}

/** Returns the encoding of a text that is not UTF-8. Warns when nothing indicates it or when bytes are invalid. */
async function likelyEncoding(path: string, { head, named, signal, warn }: Likely): Promise<string> {
  const counter = new Utf8Counter();
  for await (const chunk of chunksOf(path, { signal })) counter.write(chunk);
  if (named === UTF8 || counter.isMostlyUtf8(head)) {
    warn?.(replacedWarning(counter.invalid));
    return UTF8;
  }
  if (named === null) warn?.(GUESSED);
  return named ?? 'windows-1252';
}

function replacedWarning(count: number): string {
  return count === 1
    ? 'A sequence of bytes is not valid UTF-8: it was replaced by U+FFFD.'
    : `${count} sequences of bytes are not valid UTF-8: each was replaced by U+FFFD.`;
}

/**
 * Returns the name of UTF-16 by its mark or its zero bytes, otherwise null: every second byte of Latin text is zero, and
 * UTF-8 text has no zero bytes. Depends on the first 1,024 bytes only, so that a file is read as it was identified.
 */
export function utf16Name(head: Buffer): 'utf-16le' | 'utf-16be' | null {
  if (head[0] === 0xff && head[1] === 0xfe) return 'utf-16le';
  if (head[0] === 0xfe && head[1] === 0xff) return 'utf-16be';
  const sample = head.subarray(0, Math.min(head.length, 1024) & ~1);
  if (sample.length < 4) return null;
  const zeros = (parity: number): number => sample.filter((byte, index) => index % 2 === parity && byte === 0).length;
  const half = sample.length / 2;
  if (zeros(1) > half * 0.7 && zeros(0) === 0) return 'utf-16le';
  return zeros(0) > half * 0.7 && zeros(1) === 0 ? 'utf-16be' : null;
}

async function headOf(path: string): Promise<Buffer> {
  await using file = await open(path);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(4096), 0, 4096, 0);
  return buffer.subarray(0, bytesRead);
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
