import { createReadStream } from 'node:fs';
import { MediaError } from '#crds/contract/media-error.ts';
import { refuseTooManyPages } from '#worker-image/engine/office/refuse-too-many-pages.ts';

/** `\bin`, followed by its number of data bytes, or a page break. */
const CONTROL_WORDS = /\\(?:bin(\d{1,12})|(?:page|sect)(?![a-z]))/g;
const OVERLAP = 32;

/**
 * Refuses an RTF that declares more data than it has, which LibreOffice skips for minutes, or too many pages.
 * @throws MediaError processing_failed when the file is shorter than it declares, limit_exceeded for too many pages.
 */
export async function refuseHostileRtf(
  { path, size }: { path: string; size: number },
  signal: AbortSignal,
): Promise<void> {
  let tail = '';
  let breaks = 0;
  for await (const chunk of createReadStream(path, { encoding: 'latin1', signal })) {
    const text = tail + String(chunk);
    const cut = Math.max(0, text.length - OVERLAP);
    for (const { index, 1: bytes } of text.matchAll(CONTROL_WORDS)) {
      if (Number(bytes) > size) throw truncatedRtf(Number(bytes), size);
      // A match in the tail is found again with the next chunk.
      if (bytes === undefined && index < cut) breaks += 1;
    }
    refuseTooManyPages(breaks);
    tail = text.slice(cut);
  }
}

function truncatedRtf(claimed: number, size: number): MediaError {
  return new MediaError(
    'processing_failed',
    `The rtf file is damaged or truncated: it declares a data block of ${claimed} bytes and has ${size} bytes in total.`,
  );
}
