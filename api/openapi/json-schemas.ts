/** From the zod schemas that validate to JSON schemas: those with an id become components, referred to by name. */
import { z } from 'zod';

export type JsonSchema = z.core.JSONSchema.BaseSchema;

export interface SchemaWriter {
  /** The schema, or a reference to its component. */
  readonly write: (schema: z.ZodType, io: 'input' | 'output') => JsonSchema;
  /** What was referred to so far, by name. */
  readonly components: () => Readonly<Record<string, JsonSchema>>;
}

const COMPONENTS = '#/components/schemas/';

/** `options` stands for every schema at a path `options` that takes any object. */
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
        // Every custom type of ours is a string whose values another schema checks.
        if (zodSchema._zod.def.type === 'custom') jsonSchema.type = 'string';
        if (path.includes('options') && isLoose(jsonSchema)) becomeReference(jsonSchema, `${COMPONENTS}Options`);
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

/** Requests take options as any object, so that a refusal can name the option at fault. */
function isLoose({ type, properties }: JsonSchema): boolean {
  return type === 'object' && properties !== undefined && Object.keys(properties).length === 0;
}

function becomeReference(schema: JsonSchema, target: string): void {
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
