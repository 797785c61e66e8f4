/** Size and checksum of a result as it was written, by which a file that was damaged afterwards is detected. */
import { stat, writeFile } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { chunksOf } from '#worker-image/engine/containers/read-text.ts';

export interface WrittenFile {
  /** Size in bytes. */
  readonly bytes: number;
  /** CRC-32 of its bytes; null where another program wrote the file and reported its size only. */
  readonly checksum: number | null;
  /**
   * What an image file with these bytes is still decoded of: nothing where its encoder did, or where its decoder would find
   * no more than was compared; the first frame where it wrote them to memory; absent: everything.
   */
  readonly undecoded?: 'nothing' | 'first frame';
}

/** Writes a file from memory. */
export async function writeWhole(path: string, bytes: Uint8Array): Promise<WrittenFile> {
  await writeFile(path, bytes);
  return { bytes: bytes.length, checksum: crc32(bytes) };
}

/** Compares the file with what was written. @throws Error when it is another. */
export async function requireWritten(path: string, written: WrittenFile, signal: AbortSignal): Promise<void> {
  const { size } = await stat(path);
  if (size !== written.bytes) throw new Error(`The output has ${size} bytes; ${written.bytes} were written.`);
  if (written.checksum === null) return;
  let checksum = 0;
  for await (const chunk of chunksOf(path, { signal })) checksum = crc32(chunk, checksum);
  if (checksum !== written.checksum) throw new Error('The output is not what was written.');
}
