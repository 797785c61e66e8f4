/** Removes comments, XMP and other application blocks from a GIF; frames, delays and the loop stay. */
import { endOfScreen, GIF_TRAILER, gifBlocks, type GifBlock } from '#worker-image/engine/containers/gif-blocks.ts';

const KEPT_APPLICATIONS: ReadonlySet<string> = new Set(['NETSCAPE2.0', 'ANIMEXTS1.0', 'ICCRGBG1012']);

/**
 * Returns the file without metadata, with the end mark added if it is missing.
 * @throws MediaError processing_failed when the blocks do not lead to the end mark or the end of the file.
 */
export function stripGif(file: Buffer): Buffer {
  const kept = [...gifBlocks(file)].filter((block) => isKept(file, block));
  return Buffer.concat([
    file.subarray(0, endOfScreen(file)),
    ...kept.map(({ start, end }) => file.subarray(start, end)),
    Buffer.from([GIF_TRAILER]),
  ]);
}

function isKept(file: Buffer, { kind, start }: GifBlock): boolean {
  if (kind === 'application') return KEPT_APPLICATIONS.has(file.toString('latin1', start + 3, start + 14));
  return kind !== 'comment' && kind !== 'padding';
}
