import { readdirSync, type Dirent } from 'node:fs';
import path from 'node:path';

/** Returns the paths of all files, relative to the folder. Folders that are removed meanwhile have none. */
export function filesBelow(folder: string): string[] {
  return entriesOf(folder).flatMap((entry) => {
    if (entry.isDirectory())
      return filesBelow(path.join(folder, entry.name)).map((file) => path.join(entry.name, file));
    return entry.isFile() ? [entry.name] : [];
  });
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
