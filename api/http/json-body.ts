import type { z } from 'zod';
import type { ApiRequest } from '#api/http/endpoint.ts';
import { withMinimumPace } from '#api/http/body-pace.ts';
import { checkJsonObject, parseFields } from '#api/fields/parse-fields.ts';
import { MediaError } from '#crds/contract/media-error.ts';
import { LIMITS } from '#crds/catalogue/plans.ts';

const FILES_GO_ELSEWHERE = 'A file goes into an upload (POST /v1/uploads) or a direct request.';

export interface JsonBody {
  readonly raw: Buffer;
  readonly object: Readonly<Record<string, unknown>>;
}

/**
 * Reads a JSON body of at most 64 KB that is an object (docs/reference/limits-and-prices.md#limits-for-every-plan).
 * @throws MediaError bad_request
 */
export async function readJsonBody(request: Pick<ApiRequest, 'body' | 'contentLength'>): Promise<JsonBody> {
  const raw = await readBytes(request);
  return { raw, object: checkJsonObject(parseJson(raw)) };
}

/** Reads a JSON body and parses its fields, as `parseFields` does. @throws MediaError bad_request */
export async function readFields<Schema extends z.ZodType>(
  request: Pick<ApiRequest, 'body' | 'contentLength'>,
  schema: Schema,
): Promise<z.output<Schema>> {
  return parseFields(schema, (await readJsonBody(request)).object);
}

async function readBytes({ body, contentLength }: Pick<ApiRequest, 'body' | 'contentLength'>): Promise<Buffer> {
  if (contentLength !== null && contentLength > LIMITS.jsonBodyBytes) throw tooLongError(contentLength);
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of withMinimumPace(body) as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > LIMITS.jsonBodyBytes) throw tooLongError(size);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function tooLongError(size: number): MediaError {
  return new MediaError(
    'bad_request',
    `The body has ${size} bytes or more; a JSON body may have at most ${LIMITS.jsonBodyBytes}. ${FILES_GO_ELSEWHERE}`,
  );
}

function parseJson(raw: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(raw));
  } catch {
    // Without `cause`, which would be logged: it quotes the body, which may contain a secret.
    if (raw.toString('latin1', 0, 2) === '--') {
      throw new MediaError('bad_request', `The body is a form; send a JSON object. ${FILES_GO_ELSEWHERE}`);
    }
    throw new MediaError('bad_request', 'The body is not valid JSON in UTF-8 without byte order mark.');
  }
}
