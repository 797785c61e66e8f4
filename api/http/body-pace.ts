import type { Readable } from 'node:stream';
import { gatherChunks } from '#api/http/gather-chunks.ts';
import { MediaError } from '#crds/contract/media-error.ts';

/** Length of the window in which the pace is measured, in milliseconds. */
const WINDOW_MS = 20_000;
const BYTES_PER_WINDOW = 20 * 1024;

/**
 * Returns a stream of a request's body that fails with `bad_request` when the body falls below 1 KiB/s over 20 seconds,
 * so that a slow client cannot hold a connection open. It fails likewise when the connection closes before the end of
 * the body. `onChunk` is called with each chunk.
 */
export function withMinimumPace(body: Readable, onChunk?: (chunk: Buffer) => void): Readable {
  let inWindow = 0;
  const paced = gatherChunks(body, (chunk) => {
    inWindow += chunk.length;
    onChunk?.(chunk);
  });
  const timer = setInterval(() => {
    const isReaderBehind = paced.readableLength >= paced.readableHighWaterMark;
    if (inWindow < BYTES_PER_WINDOW && !isReaderBehind) paced.destroy(tooSlowError());
    inWindow = 0;
  }, WINDOW_MS).unref();
  // The connection may close before the stream has a reader: without a listener the error would end the process.
  paced.on('error', () => undefined);
  const failIfTruncated = (): void => {
    if (!body.readableEnded) paced.destroy(truncatedError());
  };
  body.once('end', () => clearInterval(timer));
  body.once('error', (error) => paced.destroy(truncatedError(error)));
  body.once('close', failIfTruncated);
  if (body.destroyed) failIfTruncated();
  paced.once('close', () => {
    clearInterval(timer);
    body.unpipe(paced);
  });
  return paced;
}

function tooSlowError(): MediaError {
  return new MediaError('bad_request', 'The body was slower than 1 KiB per second over 20 seconds.');
}

function truncatedError(cause?: Error): MediaError {
  return new MediaError('bad_request', 'The connection closed before the whole body was received.', { cause });
}
