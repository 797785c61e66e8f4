import { once } from 'node:events';
import { readSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { finished } from 'node:stream/promises';
import { FORMATS } from '#crds/catalogue/formats.ts';
import { REPORT_HEADER, toHeader } from '#crds/contract/direct-work.ts';
import { faultPoint } from '#crds/process/fault-point.ts';
import type { LaneAdmission } from '#worker-image/direct/admission-control.ts';
import type { EngineOutput } from '#worker-image/sandbox/sandboxed-engine.ts';

/** Size up to which an output is read at once, in bytes. It was written a moment ago, so no disk is waited for. */
const WHOLE_BYTES = 1024 ** 2;
/** Bytes that are sent before they are counted: a client with the pace under contention reads them in 4 seconds. */
const CHUNK_BYTES = 256 * 1024;
const CHUNKED = { highWaterMark: CHUNK_BYTES } as const;

/**
 * Sends no more than the announced size: the file may still grow.
 * @throws AbortError when the signal aborts; Error when bytes are missing.
 */
export async function sendOutput(
  admission: Pick<LaneAdmission, 'sent'>,
  response: ServerResponse,
  { output, size, report }: EngineOutput,
  signal: AbortSignal,
): Promise<void> {
  await using file = output;
  await faultPoint('before-engine-response');
  response.writeHead(200, {
    'content-type': FORMATS[report.result.output_format].mediaType,
    'content-length': size,
    [REPORT_HEADER]: toHeader(report),
  });
  const whole = size <= WHOLE_BYTES;
  const chunks = whole ? chunksOf(file, size) : file.createReadStream({ end: size - 1, autoClose: false, ...CHUNKED });
  let missing = size;
  for await (const chunk of chunks as Iterable<Buffer> | AsyncIterable<Buffer>) {
    // A closed response aborts the signal.
    if (!response.write(chunk)) await once(response, 'drain', { signal });
    admission.sent(chunk.length);
    missing -= chunk.length;
  }
  if (missing > 0) throw new Error('the output became shorter while it was sent');
  response.end();
  await finished(response, { signal });
}

/** Yields a file that is read at once. */
function* chunksOf(file: FileHandle, size: number): Generator<Buffer> {
  const bytes = Buffer.allocUnsafe(size);
  const end = readSync(file.fd, bytes, 0, size, 0);
  for (let at = 0; at < end; at += CHUNK_BYTES) yield bytes.subarray(at, Math.min(end, at + CHUNK_BYTES));
}
