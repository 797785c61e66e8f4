import { createHash } from 'node:crypto';
import { realpathSync } from 'node:fs';

/** Returns 12 hexadecimal digits of the hash of the folder's resolved path. */
export function folderHash(folder: string): string {
  return createHash('sha256').update(realpathSync(folder)).digest('hex').slice(0, 12);
}
