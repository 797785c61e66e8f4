import { constants } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { parseRunOutcome, TERMINATION_BYTES, type RunOutcome } from '#crds/contract/run-spec.ts';

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;

/**
 * Returns the outcome in the termination file of a run on this machine; null when there is none. A compromised worker
 * may have put anything at that path: links are not followed, pipes are not waited for, and only a small regular file
 * of this user without a second name is read.
 */
export async function readTermination(path: string): Promise<RunOutcome | null> {
  const file = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch(() => null);
  if (file === null) return null;
  try {
    return (await isOwnSmallFile(file)) ? parseRunOutcome(await readText(file)) : null;
  } finally {
    await file.close();
  }
}

async function isOwnSmallFile(file: FileHandle): Promise<boolean> {
  const stats = await file.stat();
  return stats.isFile() && stats.nlink === 1 && stats.uid === process.getuid?.() && stats.size <= TERMINATION_BYTES;
}

/** Reads at most one byte more than allowed: the file may have grown since its size was checked. */
async function readText(file: FileHandle): Promise<string> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(TERMINATION_BYTES + 1), 0, TERMINATION_BYTES + 1, 0);
  return buffer.toString('utf8', 0, bytesRead);
}
