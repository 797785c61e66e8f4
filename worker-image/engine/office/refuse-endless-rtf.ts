import { createReadStream } from 'node:fs';
import { MediaError } from '#crds/media-error.ts';

/** So many bytes of data follow, whatever they are. */
const BINARY = /\\bin(\d{1,12})/g;
const OVERLAP = 32;

/**
 * LibreOffice counts through data that an RTF claims to hold and does not, for minutes.
 * @throws MediaError processing_failed when the file is shorter than what it claims.
 */
export async function refuseEndlessRtf(
  { path, size }: { path: string; size: number },
  signal: AbortSignal,
): Promise<void> {
  let tail = '';
  for await (const chunk of createReadStream(path, { encoding: 'latin1', signal })) {
    const text = tail + String(chunk);
    for (const [, bytes] of text.matchAll(BINARY)) {
      if (Number(bytes) > size) throw cutOff(Number(bytes), size);
    }
    tail = text.slice(-OVERLAP);
  }
}

function cutOff(claimed: number, size: number): MediaError {
  return new MediaError(
    'processing_failed',
    `The rtf file is damaged or was cut off: it claims ${claimed} bytes of data in one place and has ${size} in all.`,
  );
}
