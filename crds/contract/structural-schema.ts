import { z } from 'zod';

/** Node of a CRD's structural schema, a subset of OpenAPI 3.0. */
export interface StructuralSchema {
  readonly type: string;
  readonly [keyword: string]: unknown;
}

interface JsonSchema {
  readonly type?: string;
  readonly nullable?: boolean;
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly JsonSchema[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: JsonSchema | boolean;
  readonly items?: JsonSchema;
  readonly maxItems?: number;
  readonly format?: string;
  readonly pattern?: string;
  readonly [keyword: string]: unknown;
}

/** Default limits. An API server computes the cost of CEL rules from the largest values that the schema allows. */
const CAPS = { maxLength: 1000, maxItems: 100, maxProperties: 64 };

/**
 * Returns the structural schema of a zod schema.
 * @throws Error for schemas without one: a union of different types, or a value of any type.
 */
export function structuralSchema(schema: z.ZodObject): StructuralSchema {
  const json = z.toJSONSchema(schema, {
    target: 'openapi-3.0',
    io: 'input',
    unrepresentable: 'any',
    // Every custom type of this project is a string.
    override: ({ zodSchema, jsonSchema }) => {
      if (zodSchema._zod.def.type === 'custom') jsonSchema.type = 'string';
    },
  });
  return structure(json as JsonSchema, '');
}

function structure(node: JsonSchema, path: string): StructuralSchema {
  const { description, nullable } = node;
  const about = { ...(description === undefined ? {} : { description }), ...(nullable === true ? { nullable } : {}) };
  return { ...about, ...schemaOf(node, path) };
}

function schemaOf(node: JsonSchema, path: string): StructuralSchema {
  if (node.anyOf !== undefined) return schemaOf(unionSchema(node.anyOf, path), path);
  switch (node.type) {
    case 'object':
      return objectSchema(node, path);
    case 'array':
      return {
        type: 'array',
        maxItems: node.maxItems ?? CAPS.maxItems,
        items: structure(node.items ?? {}, `${path}[]`),
      };
    case 'string':
      return stringSchema(node);
    case 'integer':
      return { type: 'integer', format: 'int64', ...bounds(node) };
    case 'number':
    case 'boolean':
      return { type: node.type };
    case undefined:
    default:
      throw new Error(`${path} has no type that a CRD schema can express.`);
  }
}

function objectSchema({ properties, required, additionalProperties }: JsonSchema, path: string): StructuralSchema {
  if (properties === undefined) {
    const values = typeof additionalProperties === 'object' ? additionalProperties : {};
    return { type: 'object', maxProperties: CAPS.maxProperties, additionalProperties: structure(values, `${path}.*`) };
  }
  const fields = Object.entries(properties).map(([name, field]) => [name, structure(field, `${path}.${name}`)]);
  // An API server's rules and patches treat null as absent, so nullable fields are not required.
  const needed = (required ?? []).filter((name) => properties[name]?.nullable !== true);
  return { type: 'object', required: needed, properties: Object.fromEntries(fields) };
}

function stringSchema(node: JsonSchema): StructuralSchema {
  if (node.format === 'date-time') return { type: 'string', format: 'date-time' };
  // An API server compares null with the enum, too, and would refuse it. A pattern applies to strings only.
  if (node.enum !== undefined && node.nullable === true)
    return { type: 'string', maxLength: CAPS.maxLength, pattern: `^(${node.enum.join('|')})$` };
  if (node.enum !== undefined) return { type: 'string', enum: node.enum };
  const { minLength, maxLength = CAPS.maxLength, pattern } = node;
  const least = minLength === undefined ? {} : { minLength };
  return { type: 'string', ...least, maxLength, ...(pattern === undefined ? {} : { pattern }) };
}

/** Returns the bounds of a number, without the limits of safe integers in JavaScript. */
function bounds({ minimum, maximum }: JsonSchema): Record<string, unknown> {
  const lower = minimum === undefined || minimum === Number.MIN_SAFE_INTEGER ? {} : { minimum };
  return maximum === undefined || maximum === Number.MAX_SAFE_INTEGER ? lower : { ...lower, maximum };
}

/** Returns the schema of a union of several string forms. */
function unionSchema(members: readonly JsonSchema[], path: string): JsonSchema {
  const types = new Set(members.map(({ type }) => type));
  const [type] = types;
  if (types.size !== 1 || type !== 'string')
    throw new Error(`${path} has values of different types: ${[...types].join(', ')}.`);
  return { type };
}
