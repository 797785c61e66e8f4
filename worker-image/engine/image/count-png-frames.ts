import { open } from 'node:fs/promises';

const SIGNATURE_BYTES = 8;
const MAX_CHUNKS_BEFORE_PIXELS = 1000;

/**
 * Frames of a PNG: what its animation chunk claims, 1 without one. A single frame beside the still picture, which then
 * has no frame chunk of its own, counts with that one. Reads the chunk headers before the pixels only.
 */
export async function countPngFrames(path: string): Promise<number> {
  const file = await open(path);
  try {
    const header = Buffer.alloc(12);
    const seen = new Set<string>();
    let claimed = 0;
    let at = SIGNATURE_BYTES;
    for (let i = 0; i < MAX_CHUNKS_BEFORE_PIXELS; i += 1) {
      const { bytesRead } = await file.read(header, 0, header.length, at);
      const type = header.toString('latin1', 4, 8);
      if (bytesRead < header.length || type === 'IDAT') break;
      if (type === 'acTL') claimed = header.readUInt32BE(8);
      seen.add(type);
      at += 12 + header.readUInt32BE(0);
    }
    return claimed === 1 && !seen.has('fcTL') ? 2 : Math.max(1, claimed);
  } finally {
    await file.close();
  }
}
