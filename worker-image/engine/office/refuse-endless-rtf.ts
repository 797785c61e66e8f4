import { createReadStream } from 'node:fs';
import { MediaError } from '#crds/media-error.ts';
import { refuseEndlessPages } from '#worker-image/engine/office/refuse-endless-pages.ts';

/** So many bytes of data follow, whatever they are; or a new page begins. */
const WORDS = /\\(?:bin(\d{1,12})|(?:page|sect)(?![a-z]))/g;
const OVERLAP = 32;

/**
 * LibreOffice counts through data that an RTF claims to hold and does not, for minutes; and through pages without end.
 * @throws MediaError processing_failed when the file is shorter than what it claims, limit_exceeded for too many pages.
 */
export async function refuseEndlessRtf(
  { path, size }: { path: string; size: number },
  signal: AbortSignal,
): Promise<void> {
  let tail = '';
  let breaks = 0;
  for await (const chunk of createReadStream(path, { encoding: 'latin1', signal })) {
    const text = tail + String(chunk);
    const cut = Math.max(0, text.length - OVERLAP);
    for (const { index, 1: bytes } of text.matchAll(WORDS)) {
      if (Number(bytes) > size) throw cutOff(Number(bytes), size);
      // What begins in the tail comes again with it.
      if (bytes === undefined && index < cut) breaks += 1;
    }
    refuseEndlessPages(breaks);
    tail = text.slice(cut);
  }
}

function cutOff(claimed: number, size: number): MediaError {
  return new MediaError(
    'processing_failed',
    `The rtf file is damaged or was cut off: it claims ${claimed} bytes of data in one place and has ${size} in all.`,
  );
}
