/** Tables of the fields of JSON schemas in Markdown. */
import { z } from 'zod';

/** The parts of a JSON schema that the tables show. */
export const schema = z.object({
  $ref: z.string().optional(),
  type: z.union([z.string(), z.array(z.string())]).optional(),
  enum: z.array(z.unknown()).optional(),
  description: z.string().optional(),
  default: z.unknown().optional(),
  minimum: z.number().optional(),
  exclusiveMinimum: z.number().optional(),
  maximum: z.number().optional(),
  required: z.array(z.string()).optional(),
  get properties() {
    return z.record(z.string(), schema).optional();
  },
  get anyOf() {
    return z.array(schema).optional();
  },
});
export type Schema = z.infer<typeof schema>;
export type Schemas = Readonly<Record<string, Schema>>;

/** Returns a table of names, values and meanings. */
export function table(what: string, rows: readonly string[]): string {
  return `| ${what} | values | meaning |\n|---|---|---|\n${rows.join('\n')}`;
}

/** Returns a row for each field, and for the fields of objects among them. @param path of the object, with a dot. */
export function fieldRows({ properties = {}, required = [] }: Schema, schemas: Schemas, path = ''): string[] {
  return Object.entries(properties).flatMap(([name, field]) => {
    const [object] = [field, ...(field.anyOf ?? [])].filter((one) => one.properties !== undefined);
    const isRequired = required.includes(name) ? ' (required)' : '';
    const row = `| \`${path}${name}\`${isRequired} | ${valuesOf(field, schemas)} | ${meaningOf(name, descriptionOf(field))} |`;
    return object === undefined ? [row] : [row, ...fieldRows(object, schemas, `${path}${name}.`)];
  });
}

/** Returns the schema that a reference names; others unchanged. */
export function resolve(found: Schema, schemas: Schemas): Schema {
  return found.$ref === undefined ? found : (schemas[found.$ref.split('/').at(-1) ?? ''] ?? found);
}

/** Returns the meaning for a table. @throws Error when it is missing in the schema */
export function meaningOf(name: string, description = ''): string {
  if (description === '') throw new Error(`${name} has no description: add one to its schema with meta`);
  return description;
}

function descriptionOf({ description, anyOf = [] }: Schema): string {
  return description ?? anyOf.find((one) => one.description !== undefined)?.description ?? '';
}

/** Returns the values that a schema allows, in Markdown. */
export function valuesOf(found: Schema, schemas: Schemas): string {
  const { enum: names, minimum, exclusiveMinimum, maximum, anyOf, type, properties } = resolve(found, schemas);
  if (anyOf !== undefined) {
    const kinds = anyOf.filter((one) => one.type !== 'null').map((one) => valuesOf(one, schemas));
    return [...new Set(kinds)].join('; ');
  }
  if (names !== undefined) return names.map((name) => `\`${String(name)}\``).join(', ');
  if (exclusiveMinimum !== undefined) return `above ${exclusiveMinimum}`;
  if (minimum !== undefined || maximum !== undefined) return rangeOf(minimum ?? 0, maximum);
  if (properties !== undefined) return 'object';
  return [type ?? 'any']
    .flat()
    .filter((one) => one !== 'null')
    .join(', ');
}

function rangeOf(minimum: number, maximum = Number.MAX_SAFE_INTEGER): string {
  return maximum === Number.MAX_SAFE_INTEGER ? `from ${minimum}` : `${minimum} to ${maximum}`;
}
