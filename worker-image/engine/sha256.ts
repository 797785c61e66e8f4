import { createHash } from 'node:crypto';
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { setImmediate as yieldToEvents } from 'node:timers/promises';

/**
 * Maximum size of the reused buffer, in bytes. A new buffer per read, as streams use, takes two thirds of the hashing
 * time.
 */
const BUFFER_BYTES = 512 * 1024;

/** Returns the file's SHA-256 in hex. Handles other events after each buffer. @throws the signal's reason on abort. */
export async function sha256(path: string, signal?: AbortSignal): Promise<string> {
  const hash = createHash('sha256');
  const file = openSync(path, 'r');
  try {
    const buffer = Buffer.allocUnsafe(Math.min(BUFFER_BYTES, fstatSync(file).size + 1));
    for (;;) {
      signal?.throwIfAborted();
      const bytesRead = readSync(file, buffer, 0, buffer.length, null);
      if (bytesRead === 0) return hash.digest('hex');
      hash.update(buffer.subarray(0, bytesRead));
      if (bytesRead === BUFFER_BYTES) await yieldToEvents();
    }
  } finally {
    closeSync(file);
  }
}
