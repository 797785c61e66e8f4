import type { FileHandle } from 'node:fs/promises';
import { TERMINATION_BYTES } from '#crds/contract/run-files.ts';
import { parseRunOutcome, type RunOutcome } from '#crds/contract/run-spec.ts';
import { ForeignFile, nameFile, openNamed } from '#crds/process/checked-file.ts';

/**
 * Returns the outcome in the termination file of a run on this machine; null when there is none. A compromised worker
 * may have put anything at that path: only a small regular file of this user without a second name is read.
 */
export async function readTermination(path: string): Promise<RunOutcome | null> {
  try {
    const uid = process.getuid?.() ?? -1;
    using file = nameFile(path, { uid, maxBytes: TERMINATION_BYTES, onlyName: true });
    await using handle = (await openNamed(file)).handle;
    return parseRunOutcome(await readText(handle));
  } catch (error) {
    if (error instanceof ForeignFile) return null;
    throw error;
  }
}

/** Reads at most one byte more than allowed: the file may have grown since its size was checked. */
async function readText(file: FileHandle): Promise<string> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(TERMINATION_BYTES + 1), 0, TERMINATION_BYTES + 1, 0);
  return buffer.toString('utf8', 0, bytesRead);
}
