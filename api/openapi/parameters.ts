/** Parameters of an operation in its path, query and headers. */
import { z } from 'zod';
import type { Endpoint } from '#api/http/endpoint.ts';
import { API_VERSION } from '#api/interface-version.ts';
import type { JsonSchema, SchemaWriter } from '#api/openapi/json-schemas.ts';
import { optionsSchema } from '#crds/catalogue/options/options.ts';

interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required: boolean;
  readonly description: string;
  readonly schema: JsonSchema;
}

const PATH_PARAMETERS: Readonly<Record<string, Pick<Parameter, 'description' | 'schema'>>> = {
  id: { description: 'Id of the object.', schema: { type: 'string', maxLength: 200 } },
  part_number: { description: 'Number of the part, from 1.', schema: { type: 'integer', minimum: 1 } },
  id_or_name: { description: 'Id or name of the preset.', schema: { type: 'string', maxLength: 200 } },
};

/** Returns the parameters of an endpoint. @throws Error when a path parameter has no description. */
export function parametersOf(writer: SchemaWriter, endpoint: Endpoint): readonly Parameter[] {
  return [...pathParameters(endpoint), ...queryParameters(writer, endpoint), ...headerParameters(endpoint)];
}

function pathParameters({ path }: Endpoint): Parameter[] {
  return [...path.matchAll(/:([a-z_]+)/g)].map(([, name = '']) => {
    const known = PATH_PARAMETERS[name];
    if (known === undefined) throw new Error(`the path parameter ${name} of ${path} has no description`);
    return { name, in: 'path', required: true, ...known };
  });
}

function queryParameters(writer: SchemaWriter, endpoint: Endpoint): Parameter[] {
  const shape: Record<string, z.core.$ZodType> = endpoint.query?.shape ?? {};
  const own = Object.entries(shape).map(([name, schema]) => [name, schema as z.ZodType] as const);
  const options = endpoint.lane === 'direct' ? flatOptions(optionsSchema, '') : [];
  return [...own, ...options].map(([name, schema]) => {
    const { description = '', ...json } = writer.write(schema, 'input');
    return { name, in: 'query', required: false, description, schema: json };
  });
}

/** Returns the options of direct requests as dotted query parameters with their schemas. */
function flatOptions(schema: z.ZodObject, prefix: string): [string, z.ZodType][] {
  return Object.entries(schema.shape).flatMap(([name, field]): [string, z.ZodType][] => {
    const inner = field instanceof z.ZodOptional ? field.unwrap() : field;
    if (inner instanceof z.ZodObject) return flatOptions(inner, `${prefix}${name}.`);
    if (!(inner instanceof z.ZodUnion)) return [[`${prefix}${name}`, field as z.ZodType]];
    return inner.options.flatMap((option): [string, z.ZodType][] =>
      option instanceof z.ZodObject
        ? flatOptions(option, `${prefix}${name}.`)
        : [[`${prefix}${name}`, option as z.ZodType]],
    );
  });
}

function headerParameters(endpoint: Endpoint): Parameter[] {
  const header = (name: string, description: string, schema: JsonSchema): Parameter => ({
    name,
    in: 'header',
    required: false,
    description,
    schema,
  });
  return [
    header('Svc-Version', 'Pins the version of the API.', { type: 'string', enum: [API_VERSION] }),
    ...(endpoint.errors.includes('idempotency_conflict')
      ? [
          header(
            'Idempotency-Key',
            'A repeated key with the same body returns the first response again, for 24 hours.',
            {
              type: 'string',
              minLength: 1,
              maxLength: 255,
            },
          ),
        ]
      : []),
    ...(endpoint.lane === 'direct'
      ? [header('Content-Disposition', 'Name of the file; the query parameter takes precedence.', { type: 'string' })]
      : []),
    ...(206 in endpoint.responses
      ? [header('Range', 'One range of bytes (RFC 9110), such as `bytes=0-1023`.', { type: 'string' })]
      : []),
  ];
}
