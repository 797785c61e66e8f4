/** Conversion of the zod schemas of requests to JSON schemas. Schemas with an id become components. */
import { z } from 'zod';

export type JsonSchema = z.core.JSONSchema.BaseSchema;

export interface SchemaWriter {
  /** Returns the JSON schema, or a reference to its component. */
  readonly write: (schema: z.ZodType, io: 'input' | 'output') => JsonSchema;
  /** Returns the components referenced so far, by name. */
  readonly components: () => Readonly<Record<string, JsonSchema>>;
}

const COMPONENTS = '#/components/schemas/';

/** Returns a writer. @param options schema in place of every any-object schema at a path `options`. */
export function makeSchemaWriter(options: z.ZodType): SchemaWriter {
  const components = new Map<string, JsonSchema>();
  const write: SchemaWriter['write'] = (schema, io) => {
    const {
      $schema: _dialect,
      $defs: named = {},
      ...json
    } = z.toJSONSchema(schema, {
      target: 'draft-2020-12',
      io,
      unrepresentable: 'any',
      override: ({ zodSchema, jsonSchema, path }) => {
        // Every custom type of the interface is a string.
        if (zodSchema._zod.def.type === 'custom') jsonSchema.type = 'string';
        if (path.includes('options') && isLoose(jsonSchema)) replaceByReference(jsonSchema, `${COMPONENTS}Options`);
      },
    });
    for (const [name, definition] of Object.entries(named)) components.set(name, withReferences(definition));
    return withReferences(json);
  };
  components.set('Options', write(options, 'input'));
  return {
    write,
    components: () => Object.fromEntries([...components].toSorted(([a], [b]) => a.localeCompare(b))),
  };
}

/** Returns whether a schema accepts any object, as requests do for options so that a refusal can name the option. */
function isLoose({ type, properties }: JsonSchema): boolean {
  return type === 'object' && properties !== undefined && Object.keys(properties).length === 0;
}

function replaceByReference(schema: JsonSchema, target: string): void {
  const { description } = schema;
  for (const key of Object.keys(schema)) delete schema[key];
  schema.$ref = target;
  if (description !== undefined) schema.description = description;
}

function withReferences<Part>(part: Part): Part {
  if (Array.isArray(part)) return part.map(withReferences) as Part;
  if (typeof part !== 'object' || part === null) return part;
  const entries = Object.entries(part).flatMap(([key, value]): [string, unknown][] => {
    if (key === 'id' && typeof value === 'string') return [];
    if (key === '$ref' && typeof value === 'string') return [[key, value.replace('#/$defs/', COMPONENTS)]];
    return [[key, withReferences(value)]];
  });
  return Object.fromEntries(entries) as Part;
}
