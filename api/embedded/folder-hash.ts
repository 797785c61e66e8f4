import { createHash } from 'node:crypto';
import { realpathSync } from 'node:fs';

/** 12 hexadecimal digits that stand for the folder, whatever path leads to it. */
export function folderHash(folder: string): string {
  return createHash('sha256').update(realpathSync(folder)).digest('hex').slice(0, 12);
}
