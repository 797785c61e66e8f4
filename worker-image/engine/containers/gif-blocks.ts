/** Blocks of a GIF. Source: GIF89a Specification, CompuServe, 1990. */
import { brokenFile } from '#worker-image/engine/containers/broken-file.ts';

export type GifBlockKind = 'image' | 'control' | 'text' | 'comment' | 'application' | 'padding' | 'other';

export interface GifBlock {
  readonly kind: GifBlockKind;
  /** First byte of the block, and the byte after its terminator. */
  readonly start: number;
  readonly end: number;
}

export const GIF_TRAILER = 0x3b;
const EXTENSION = 0x21;
const IMAGE = 0x2c;
/** End of a list of sub-blocks. Some encoders write more of them after an image, which decoders skip. */
const TERMINATOR = 0;
const EXTENSION_KINDS: Readonly<Record<number, GifBlockKind>> = {
  0x01: 'text',
  0xf9: 'control',
  0xfe: 'comment',
  0xff: 'application',
};
const SCREEN_BYTES = 13;
const FLAGS_AT = 10;
/** Bytes of an image before its color table. */
export const IMAGE_HEADER_BYTES = 10;

/**
 * Returns the byte after the logical screen and its color table, where the blocks begin.
 * @throws MediaError processing_failed for a truncated header.
 */
export function endOfScreen(file: Buffer): number {
  if (file.length < SCREEN_BYTES) throw brokenFile('GIF', 'its header is truncated');
  return SCREEN_BYTES + colorTableBytes(file[FLAGS_AT] ?? 0);
}

/** Returns the size of the color table that the flags of a screen or image announce, in bytes. */
export function colorTableBytes(flags: number): number {
  return (flags & 0x80) === 0 ? 0 : 3 * 2 ** ((flags & 7) + 1);
}

/**
 * Yields the blocks up to the trailer, or to the end of the file when the trailer is missing.
 * @throws MediaError processing_failed when the blocks do not lead there.
 */
export function* gifBlocks(file: Buffer): Generator<GifBlock> {
  let start = endOfScreen(file);
  while (start !== file.length && file[start] !== GIF_TRAILER) {
    const block = readBlock(file, start);
    yield block;
    start = block.end;
  }
}

function readBlock(file: Buffer, start: number): GifBlock {
  if (file[start] === TERMINATOR) return { kind: 'padding', start, end: endOfPadding(file, start) };
  if (file[start] === EXTENSION) {
    const kind = EXTENSION_KINDS[file[start + 1] ?? 0] ?? 'other';
    return { kind, start, end: endOfSubBlocks(file, start + 2) };
  }
  if (file[start] !== IMAGE) {
    throw brokenFile('GIF', `no block begins at byte ${start}, and the end marker is missing`);
  }
  const codeSize = start + IMAGE_HEADER_BYTES + colorTableBytes(file[start + 9] ?? 0);
  return { kind: 'image', start, end: endOfSubBlocks(file, codeSize + 1) };
}

function endOfPadding(file: Buffer, start: number): number {
  let end = start;
  while (file[end] === TERMINATOR) end += 1;
  return end;
}

function endOfSubBlocks(file: Buffer, start: number): number {
  let at = start;
  while (at < file.length) {
    const size = file[at] ?? 0;
    at += 1 + size;
    if (size === TERMINATOR) return at;
  }
  throw brokenFile('GIF', 'a block is truncated');
}
