/** Receives the body of a request to the engine into a private file, up to its declared size. */
import { close, openSync, writev } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { Transform, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { BODY_BYTES_HEADER, TENANT_HEADER } from '#crds/contract/direct-work.ts';
import { MediaError } from '#crds/contract/media-error.ts';
import type { LaneAdmission } from '#worker-image/direct/admission-control.ts';

/** Tenant and size that a request declares before its body. */
export interface DeclaredBody {
  readonly tenant: string;
  /** Maximum number of bytes. */
  readonly bytes: number;
}

/** Tenant key of all requests without a tenant, which have one share together. */
const NO_TENANT = '';
const TENANT_PATTERN = /^[\w-]{1,64}$/;
const BYTES_PATTERN = /^\d{1,15}$/;

/** Parses the headers. A size that is missing, malformed or too large counts as the maximum. */
export function declaredBody({ headers }: Pick<IncomingMessage, 'headers'>, maxBytes: number): DeclaredBody {
  const [tenant, bytes] = [String(headers[TENANT_HEADER] ?? ''), String(headers[BODY_BYTES_HEADER] ?? '')];
  return {
    tenant: TENANT_PATTERN.test(tenant) ? tenant : NO_TENANT,
    bytes: BYTES_PATTERN.test(bytes) ? Math.min(Number(bytes), maxBytes) : maxBytes,
  };
}

interface SpoolInput {
  readonly path: string;
  readonly declared: DeclaredBody;
  readonly maxBytes: number;
  readonly signal: AbortSignal;
  /** Called with the first chunk. */
  readonly onStart: (head: Buffer) => void;
}

/** Bytes of a body that are written at once: each write costs a round trip to a thread. */
const WRITTEN_BYTES = 256 * 1024;
/** Bytes of a body that wait for the disk. */
const BUFFERED_BYTES = 2 * WRITTEN_BYTES;

/**
 * Writes the whole body to the file. Never destroys the request: its refusal is sent on the same connection.
 * @throws MediaError file_too_large, bad_request; the signal's reason.
 */
export async function spoolBody(
  admission: Pick<LaneAdmission, 'receive' | 'complete'>,
  request: IncomingMessage,
  { path, declared, maxBytes, signal, onStart }: SpoolInput,
): Promise<void> {
  let isFirst = true;
  const counted = new Transform({
    highWaterMark: BUFFERED_BYTES,
    transform(chunk: Buffer, _encoding, done) {
      if (isFirst) onStart(chunk);
      isFirst = false;
      done(admission.receive(chunk.length) ? null : tooLarge(declared, maxBytes), chunk);
    },
  });
  request.once('error', (error) => counted.destroy(error));
  request.pipe(counted);
  await pipeline(counted, gatheringFile(path), { signal }).catch((error: unknown) => {
    signal.throwIfAborted();
    throw error;
  });
  admission.complete();
}

/** Creates the file. Returns a stream that writes its chunks together. */
function gatheringFile(path: string): Writable {
  const fd = openSync(path, 'wx', 0o600);
  let waiting: Buffer[] = [];
  let waitingBytes = 0;
  const flush = (done: (error: Error | null) => void): void => {
    const chunks = waiting;
    [waiting, waitingBytes] = [[], 0];
    writeAll(fd, chunks, done);
  };
  return new Writable({
    highWaterMark: BUFFERED_BYTES,
    write(chunk: Buffer, _encoding, done) {
      waiting.push(chunk);
      waitingBytes += chunk.length;
      if (waitingBytes < WRITTEN_BYTES) done();
      else flush(done);
    },
    final: flush,
    destroy: (error, done) => close(fd, (closing) => done(error ?? closing)),
  });
}

/** Writes the chunks. A full disk takes a part of them first, and then reports its error. */
function writeAll(fd: number, chunks: readonly Buffer[], done: (error: Error | null) => void): void {
  const bytes = chunks.reduce((sum, { length }) => sum + length, 0);
  if (bytes === 0) return done(null);
  writev(fd, chunks, (error, written) => {
    if (error !== null || written === bytes) done(error);
    else writeAll(fd, [Buffer.concat(chunks).subarray(written)], done);
  });
}

function tooLarge({ bytes }: DeclaredBody, maxBytes: number): MediaError {
  if (bytes < maxBytes)
    return new MediaError('bad_request', `The body has more than the ${bytes} bytes that the request declared.`);
  return new MediaError(
    'file_too_large',
    `The file has more than the ${maxBytes} bytes of a direct request. Create a job for it.`,
  );
}
