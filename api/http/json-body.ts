import type { z } from 'zod';
import type { ApiRequest } from '#api/endpoint.ts';
import { atPace } from '#api/http/body-pace.ts';
import { holdsNul, nulCharacter } from '#api/http/nul-character.ts';
import { MediaError } from '#crds/media-error.ts';
import { LIMITS } from '#crds/plans.ts';

export interface JsonBody {
  readonly raw: Buffer;
  readonly object: Readonly<Record<string, unknown>>;
}

/**
 * Reads a JSON body of at most 64 KB that is an object. Spec: Limits independent of plan.
 * @throws MediaError bad_request
 */
export async function readJsonBody(request: Pick<ApiRequest, 'body' | 'contentLength'>): Promise<JsonBody> {
  const raw = await readWhole(request);
  const value = parseJson(raw);
  if (holdsNul(value)) throw nulCharacter('body');
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new MediaError('bad_request', `The body is ${nameOf(value)}; send a JSON object.`);
  }
  return { raw, object: value as Record<string, unknown> };
}

/**
 * Checks the body's fields. `options` stays as it was sent: `parseJsonOptions` reads it.
 * @throws MediaError bad_request with the field's dotted path in `param`.
 */
export function parseFields<Schema extends z.ZodType>(schema: Schema, object: unknown): z.output<Schema> {
  const dropped = pathOfDropped(object);
  if (dropped !== null) throw unknownField(dropped);
  const parsed = schema.safeParse(object);
  const [issue] = parsed.error?.issues ?? [];
  if (issue !== undefined) throw fieldError(issue);
  const data = parsed.data as z.output<Schema>;
  const sent = typeof data === 'object' && data !== null && 'options' in data;
  return sent ? { ...data, options: (object as { options: unknown }).options } : data;
}

/**
 * The dotted path of a field `__proto__` in an object below the top, which zod would drop without a word; null when
 * there is none. In `options` it is an option, and theirs to refuse.
 */
function pathOfDropped(object: unknown): string | null {
  const due: [path: string, value: unknown][] = [['', object]];
  for (const [path, value] of due) {
    if (typeof value !== 'object' || value === null) continue;
    if (path !== '' && Object.hasOwn(value, '__proto__')) return `${path}.__proto__`;
    for (const [name, child] of Object.entries(value)) {
      if (path !== '' || name !== 'options') due.push([path === '' ? name : `${path}.${name}`, child]);
    }
  }
  return null;
}

function unknownField(param: string): MediaError {
  return new MediaError('bad_request', `There is no field \`${param}\`. Remove it or check its spelling.`, { param });
}

function fieldError(issue: z.core.$ZodIssue): MediaError {
  const path = issue.path.join('.');
  if (issue.code === 'unrecognized_keys') return unknownField([...issue.path, issue.keys[0]].join('.'));
  const isMissing = issue.code === 'invalid_type' && issue.message.endsWith('received undefined');
  const problem = isMissing ? 'is missing; this request needs it' : `is not valid: ${issue.message}`;
  return new MediaError('bad_request', `\`${path}\` ${problem}.`, { param: path });
}

async function readWhole({ body, contentLength }: Pick<ApiRequest, 'body' | 'contentLength'>): Promise<Buffer> {
  if (contentLength !== null && contentLength > LIMITS.jsonBodyBytes) throw tooLong(contentLength);
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of atPace(body) as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > LIMITS.jsonBodyBytes) throw tooLong(size);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function tooLong(size: number): MediaError {
  return new MediaError(
    'bad_request',
    `The body has ${size} bytes or more; a JSON body may have ${LIMITS.jsonBodyBytes}.`,
  );
}

function parseJson(raw: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(raw));
  } catch (error) {
    throw new MediaError('bad_request', 'The body is not valid JSON in UTF-8 without byte order mark.', {
      cause: error,
    });
  }
}

function nameOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'a JSON array' : `a JSON ${typeof value}`;
}
