/** Receives the body of a request to the engine into a private file, up to its declared size. */
import { createWriteStream, openSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { Transform } from 'node:stream';
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

/** Bytes of a body that wait for the disk: with fewer, each write is small and costs a round trip to a thread. */
const BUFFERED_BYTES = 512 * 1024;

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
  const file = createWriteStream(path, { fd: openSync(path, 'wx', 0o600), highWaterMark: BUFFERED_BYTES });
  await pipeline(counted, file, { signal }).catch((error: unknown) => {
    signal.throwIfAborted();
    throw error;
  });
  admission.complete();
}

function tooLarge({ bytes }: DeclaredBody, maxBytes: number): MediaError {
  if (bytes < maxBytes)
    return new MediaError('bad_request', `The body has more than the ${bytes} bytes that the request declared.`);
  return new MediaError(
    'file_too_large',
    `The file has more than the ${maxBytes} bytes of a direct request. Create a job for it.`,
  );
}
