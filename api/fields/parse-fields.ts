import { z } from 'zod';
import { containsNul, nulCharacterError } from '#api/fields/nul-character.ts';
import { adviceOn, refusedValue, requirementOf } from '#crds/contract/refusal-words.ts';
import { MediaError } from '#crds/contract/media-error.ts';

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
  const parsed = schema.safeParse(object, { reportInput: true });
  const issues = parsed.error?.issues ?? [];
  // A misspelt name also leaves another field missing: the name is the cause.
  const issue = issues.find(({ code, path }) => code === 'unrecognized_keys' && path.length === 0) ?? issues[0];
  if (issue !== undefined) throw fieldError(issue, schema instanceof z.ZodObject ? Object.keys(schema.shape) : []);
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

function unknownFieldError(param: string, known: readonly string[] = []): MediaError {
  return new MediaError('bad_request', `There is no field \`${param}\`.${adviceOn(param, known)}`, { param });
}

/** @param known names of the fields of the whole object */
function fieldError(issue: z.core.$ZodIssue, known: readonly string[]): MediaError {
  const path = issue.path.join('.');
  if (issue.code === 'unrecognized_keys') return unknownFieldError([...issue.path, issue.keys[0]].join('.'), known);
  const message = isSecret(issue) ? `\`${path}\` is not valid: ${requirementOf(issue)}.` : refusedValue(path, issue);
  return new MediaError('bad_request', message, { param: path });
}

/** Returns true for the headers of the caller's own storage: refusals are stored with their Idempotency-Key. */
function isSecret({ path }: z.core.$ZodIssue): boolean {
  return path[0] === 'output' && path[1] === 'headers';
}

function describeType(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'a JSON array' : `a JSON ${typeof value}`;
}
