import { createReadStream } from 'node:fs';
import type { Work } from '#worker-image/engine/handler.ts';

/** A signature covers byte ranges of the file, so its dictionary is never inside a compressed stream. */
const MARK = /\/ByteRange\s*\[/;
const OVERLAP = 32;

/** Returns whether the PDF has a digital signature. */
export async function isSigned({ signal }: { signal: AbortSignal }, work: Pick<Work, 'input'>): Promise<boolean> {
  let tail = '';
  for await (const chunk of createReadStream(work.input.path, { encoding: 'latin1', signal })) {
    const text = tail + String(chunk);
    if (MARK.test(text)) return true;
    tail = text.slice(-OVERLAP);
  }
  return false;
}
