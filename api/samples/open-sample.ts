import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import type { Sample } from '#api/samples/samples.ts';

/** Opens a published sample for reading. */
export function openSample({ name }: Pick<Sample, 'name'>): Readable {
  return createReadStream(join(import.meta.dirname, '../data/samples', name));
}
