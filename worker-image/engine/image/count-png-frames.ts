import { open } from 'node:fs/promises';

const SIGNATURE_BYTES = 8;
const MAX_CHUNKS_BEFORE_PIXELS = 1000;

/** Frames of a PNG: what its animation chunk claims, 1 without one. Reads the chunk headers before the pixels only. */
export async function countPngFrames(path: string): Promise<number> {
  const file = await open(path);
  try {
    const header = Buffer.alloc(12);
    let at = SIGNATURE_BYTES;
    for (let i = 0; i < MAX_CHUNKS_BEFORE_PIXELS; i += 1) {
      const { bytesRead } = await file.read(header, 0, header.length, at);
      const type = header.toString('latin1', 4, 8);
      if (bytesRead < header.length || type === 'IDAT') return 1;
      if (type === 'acTL') return Math.max(1, header.readUInt32BE(8));
      at += 12 + header.readUInt32BE(0);
    }
    return 1;
  } finally {
    await file.close();
  }
}
