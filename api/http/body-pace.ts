import { Transform, type Readable } from 'node:stream';
import { MediaError } from '#crds/media-error.ts';

const WINDOW_MS = 20_000;
const BYTES_PER_WINDOW = 20 * 1024;

/**
 * Passes a request's body on as long as it keeps the minimum pace of 1 KiB/s over 20 seconds, so that
 * a connection cannot be held open for nothing. A client that goes away ends it with an error.
 */
export function atPace(body: Readable): Readable {
  let inWindow = 0;
  const paced = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      inWindow += chunk.length;
      done(null, chunk);
    },
  });
  const timer = setInterval(() => {
    const waitsForUs = paced.readableLength >= paced.readableHighWaterMark;
    if (inWindow < BYTES_PER_WINDOW && !waitsForUs) paced.destroy(tooSlow());
    inWindow = 0;
  }, WINDOW_MS).unref();
  // A client may go away before anyone reads: the reader finds the error when he begins, and unheard it ends no process.
  paced.on('error', () => undefined);
  const endIfCut = (): void => {
    if (!body.readableEnded) paced.destroy(cutOff());
  };
  body.once('end', () => clearInterval(timer));
  body.once('error', (error) => paced.destroy(cutOff(error)));
  body.once('close', endIfCut);
  if (body.destroyed) endIfCut();
  paced.once('close', () => {
    clearInterval(timer);
    body.unpipe(paced);
  });
  return body.pipe(paced);
}

function tooSlow(): MediaError {
  return new MediaError('bad_request', 'The body came slower than 1 KiB per second over 20 seconds.');
}

function cutOff(cause?: Error): MediaError {
  return new MediaError('bad_request', 'The connection closed before the whole body had come.', { cause });
}
