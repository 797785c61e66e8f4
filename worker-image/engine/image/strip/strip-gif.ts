/** Removes comments, XMP and other application blocks from a GIF; frames, delays and the loop stay. */
import { brokenFile } from '#worker-image/engine/containers/broken-file.ts';

const EXTENSION = 0x21;
const IMAGE = 0x2c;
const TRAILER = 0x3b;
/** End of a list of sub-blocks. Some encoders write one more after an image, which decoders skip. */
const TERMINATOR = 0;
const COMMENT = 0xfe;
const APPLICATION = 0xff;
const KEPT_APPLICATIONS: ReadonlySet<string> = new Set(['NETSCAPE2.0', 'ANIMEXTS1.0', 'ICCRGBG1012']);
const SCREEN_BYTES = 13;
const IMAGE_BYTES = 10;

/**
 * Returns the file without metadata, with the end mark added if it is missing.
 * @throws MediaError processing_failed when the blocks do not lead to the end mark or the end of the file.
 */
export function stripGif(file: Buffer): Buffer {
  if (file.length < SCREEN_BYTES) throw brokenFile('GIF', 'its header is truncated');
  let at = SCREEN_BYTES + colorTableBytes(file[10] ?? 0);
  const kept = [file.subarray(0, at)];
  while (at !== file.length && file[at] !== TRAILER) {
    const end = endOfBlock(file, at);
    if (isKept(file, at)) kept.push(file.subarray(at, end));
    at = end;
  }
  return Buffer.concat([...kept, Buffer.from([TRAILER])]);
}

function colorTableBytes(flags: number): number {
  return (flags & 0x80) === 0 ? 0 : 3 * 2 ** ((flags & 7) + 1);
}

function endOfBlock(file: Buffer, at: number): number {
  if (file[at] === TERMINATOR) return at + 1;
  if (file[at] === EXTENSION) return endOfSubBlocks(file, at + 2);
  if (file[at] !== IMAGE) throw brokenFile('GIF', `no block begins at byte ${at}, and the end marker is missing`);
  const codeSize = at + IMAGE_BYTES + colorTableBytes(file[at + 9] ?? 0);
  return endOfSubBlocks(file, codeSize + 1);
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

function isKept(file: Buffer, at: number): boolean {
  if (file[at] !== EXTENSION) return file[at] === IMAGE;
  if (file[at + 1] === COMMENT) return false;
  return file[at + 1] !== APPLICATION || KEPT_APPLICATIONS.has(file.toString('latin1', at + 3, at + 14));
}
