/** Removes comments, XMP and other application and unknown blocks from a GIF; frames, delays and the loop stay. */
import { endOfScreen, GIF_TRAILER, gifBlocks, type GifBlock } from '#worker-image/engine/containers/gif-blocks.ts';

const KEPT_APPLICATIONS: ReadonlySet<string> = new Set(['NETSCAPE2.0', 'ANIMEXTS1.0', 'ICCRGBG1012']);

/**
 * Returns the file without metadata, with the end mark added if it is missing.
 * @throws MediaError processing_failed when the blocks do not lead to the end mark or the end of the file.
 */
export function stripGif(file: Buffer): Buffer {
  const stripped = Buffer.alloc(file.length + 1);
  let length = file.copy(stripped, 0, 0, endOfScreen(file));
  // Blocks are copied one by one: a list of them could take many times the memory of the file.
  for (const block of gifBlocks(file)) {
    if (isKept(file, block)) length += file.copy(stripped, length, block.start, block.end);
  }
  stripped[length] = GIF_TRAILER;
  return stripped.subarray(0, length + 1);
}

function isKept(file: Buffer, { kind, start }: GifBlock): boolean {
  if (kind === 'application') return KEPT_APPLICATIONS.has(file.toString('latin1', start + 3, start + 14));
  return kind !== 'comment' && kind !== 'padding' && kind !== 'other';
}
