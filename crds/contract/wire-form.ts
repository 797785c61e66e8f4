/**
 * Wire form of objects in requests to an API server. Null and absent fields are equal there: a merge patch deletes null
 * fields. So null fields are omitted, and restored by the schema.
 */
import type { z } from 'zod';

/** Returns a copy without null fields, at any depth. */
export function withoutNulls<T>(value: T): T {
  if (Array.isArray(value)) return value.map(withoutNulls) as T;
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).filter(([, field]) => field !== null);
  return Object.fromEntries(fields.map(([name, field]) => [name, withoutNulls(field)])) as T;
}

/** Fills absent nullable fields with null and drops unknown fields. */
export function withNulls(schema: z.core.$ZodType, value: unknown): unknown {
  const { def } = schema._zod as { def: z.core.$ZodTypes['_zod']['def'] };
  const absent = value === undefined || value === null;
  if (def.type === 'nullable') return absent ? null : withNulls(def.innerType, value);
  if (def.type === 'optional' || def.type === 'default') return absent ? undefined : withNulls(def.innerType, value);
  if (def.type === 'array') return eachWithNulls(def.element, value);
  return def.type === 'object' && isRecord(value) ? filled(def.shape, value) : value;
}

function eachWithNulls(schema: z.core.$ZodType, value: unknown): unknown {
  return Array.isArray(value) ? value.map((item) => withNulls(schema, item)) : value;
}

function filled(shape: Readonly<Record<string, z.core.$ZodType>>, value: Readonly<Record<string, unknown>>) {
  const fields = Object.entries(shape).map(([name, schema]) => [name, withNulls(schema, value[name])] as const);
  return Object.fromEntries(fields.filter(([, field]) => field !== undefined));
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
