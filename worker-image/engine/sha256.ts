import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';

/** One piece is read into again and again: fresh ones, as a stream's, cost two thirds of the hashing itself. */
const PIECE_BYTES = 512 * 1024;

/** The file's SHA-256 in hex, read piece by piece. @throws the signal's reason on abort. */
export async function sha256(path: string, signal?: AbortSignal): Promise<string> {
  const hash = createHash('sha256');
  const piece = Buffer.allocUnsafe(PIECE_BYTES);
  await using file = await open(path, 'r');
  for (;;) {
    signal?.throwIfAborted();
    const { bytesRead } = await file.read(piece, 0, piece.length, null);
    if (bytesRead === 0) return hash.digest('hex');
    hash.update(piece.subarray(0, bytesRead));
  }
}
