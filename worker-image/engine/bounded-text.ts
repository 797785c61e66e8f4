import type { Readable } from 'node:stream';

/** Maximum number of bytes read of a stream. The stream is then destroyed, and its writer gets EPIPE. */
const MAX_READ_BYTES = 64 * 1024;
/** Maximum length of one returned text, in characters. */
const MAX_TEXT_CHARACTERS = 8000;

/** Returns a function that returns the text received since its last call, truncated to 8,000 characters. */
export function boundedText(stream: Readable | null): () => string {
  let text = '';
  let read = 0;
  stream?.setEncoding('utf8');
  stream?.on('data', (piece: string) => {
    text += piece.slice(0, MAX_TEXT_CHARACTERS - text.length);
    read += piece.length;
    if (read > MAX_READ_BYTES) stream.destroy();
  });
  return () => {
    const received = text;
    text = '';
    return received;
  };
}
