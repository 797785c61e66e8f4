import type { z } from 'zod';
import type { ApiRequest } from '#api/http/endpoint.ts';
import { withMinimumPace } from '#api/http/body-pace.ts';
import { containsNul, nulCharacterError } from '#api/http/nul-character.ts';
import { MediaError } from '#crds/contract/media-error.ts';
import { LIMITS } from '#crds/catalogue/plans.ts';

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

/** Returns the value if it is an object without U+0000. @throws MediaError bad_request */
export function checkJsonObject(value: unknown): Readonly<Record<string, unknown>> {
  if (containsNul(value)) throw nulCharacterError('body');
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new MediaError('bad_request', `The body is ${describeType(value)}; send a JSON object.`);
  }
  return value as Record<string, unknown>;
}

/**
 * Parses the fields of a body by a schema. `options` is returned as sent, for `parseJsonOptions`.
 * @throws MediaError bad_request with the field's dotted path in `param`.
 */
export function parseFields<Schema extends z.ZodType>(schema: Schema, object: unknown): z.output<Schema> {
  const protoPath = protoFieldPath(object);
  if (protoPath !== null) throw unknownFieldError(protoPath);
  const parsed = schema.safeParse(object);
  const [issue] = parsed.error?.issues ?? [];
  if (issue !== undefined) throw fieldError(issue);
  const data = parsed.data as z.output<Schema>;
  const hasOptions = typeof data === 'object' && data !== null && 'options' in data;
  return hasOptions ? { ...data, options: (object as { options: unknown }).options } : data;
}

/**
 * Returns the dotted path of a nested field `__proto__`, which zod would drop silently; null without one. `options` is
 * not searched: `parseJsonOptions` refuses it there as an unknown option.
 */
function protoFieldPath(object: unknown): string | null {
  const pending: [path: string, value: unknown][] = [['', object]];
  for (const [path, value] of pending) {
    if (typeof value !== 'object' || value === null) continue;
    if (path !== '' && Object.hasOwn(value, '__proto__')) return `${path}.__proto__`;
    for (const [name, child] of Object.entries(value)) {
      if (path !== '' || name !== 'options') pending.push([path === '' ? name : `${path}.${name}`, child]);
    }
  }
  return null;
}

function unknownFieldError(param: string): MediaError {
  return new MediaError('bad_request', `There is no field \`${param}\`. Remove it or check its spelling.`, { param });
}

function fieldError(issue: z.core.$ZodIssue): MediaError {
  const path = issue.path.join('.');
  if (issue.code === 'unrecognized_keys') return unknownFieldError([...issue.path, issue.keys[0]].join('.'));
  const isMissing = issue.code === 'invalid_type' && issue.message.endsWith('received undefined');
  const problem = isMissing ? 'is missing; this request needs it' : `is not valid: ${issue.message}`;
  return new MediaError('bad_request', `\`${path}\` ${problem}.`, { param: path });
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
    `The body has ${size} bytes or more; a JSON body may have ${LIMITS.jsonBodyBytes}.`,
  );
}

function parseJson(raw: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(raw));
  } catch {
    // Without `cause`, which would be logged: it quotes the body, which may contain a secret.
    throw new MediaError('bad_request', 'The body is not valid JSON in UTF-8 without byte order mark.');
  }
}

function describeType(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'a JSON array' : `a JSON ${typeof value}`;
}
