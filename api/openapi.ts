/** The OpenAPI 3.1 description, derived from the endpoints and the schemas that validate requests. */
import { z } from 'zod';
import type { Endpoint } from '#api/endpoint.ts';
import { API_VERSION } from '#api/http/gates.ts';
import { errorRow, type ErrorCode } from '#crds/error-codes.ts';
import { optionsSchema } from '#crds/options/options.ts';

const KEY_ERRORS: readonly ErrorCode[] = [
  'missing_key',
  'invalid_key',
  'revoked_key',
  'no_payment_method',
  'payment_required',
  'account_suspended',
  'ip_not_allowed',
  'rate_limited',
];
const COMMON_ERRORS: readonly ErrorCode[] = ['unsupported_version', 'https_required', 'internal'];
const DIRECT_ERRORS: readonly ErrorCode[] = ['concurrency_limited'];

/** The whole document, for a server at this address. */
export function openApiDocument(endpoints: readonly Endpoint[], baseUrl: string): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const endpoint of endpoints) {
    const path = endpoint.path.replaceAll(/:([a-z_]+)/g, '{$1}');
    paths[path] = { ...paths[path], [endpoint.method.toLowerCase()]: operation(endpoint) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'mediajobs',
      version: API_VERSION,
      description:
        'Compresses, converts and strips metadata from images, PDFs, video, audio, office documents, tables and fonts.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: baseUrl }],
    paths,
    components: {
      securitySchemes: { key: { type: 'http', scheme: 'bearer', description: '`svc_live_…` or `svc_test_…`' } },
      schemas: { Error: errorSchema(), Options: schemaOf(optionsSchema, 'input') },
    },
  };
}

function operation(endpoint: Endpoint): object {
  return {
    operationId: operationId(endpoint),
    summary: endpoint.summary,
    security: endpoint.lane === 'open' ? [] : securityOf(endpoint),
    parameters: parametersOf(endpoint),
    ...(endpoint.body === undefined ? {} : { requestBody: { required: true, content: contentOf(endpoint.body) } }),
    responses: { ...successes(endpoint), ...failures(endpoint) },
  };
}

function operationId({ method, path }: Endpoint): string {
  const words = path
    .replace('/v1/', '')
    .replaceAll(/:([a-z_]+)/g, 'by_$1')
    .split(/[/_-]/);
  return [method.toLowerCase(), ...words.map((word) => word.charAt(0).toUpperCase() + word.slice(1))].join('');
}

function securityOf(endpoint: Exclude<Endpoint, { lane: 'open' }>): object[] {
  return endpoint.signedLink === undefined ? [{ key: [] }] : [{ key: [] }, {}];
}

function parametersOf(endpoint: Endpoint): object[] {
  const inPath = [...endpoint.path.matchAll(/:([a-z_]+)/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
  const shape: Record<string, z.core.$ZodType> = endpoint.query?.shape ?? {};
  const inQuery = Object.entries(shape).map(([name, schema]) => ({
    name,
    in: 'query',
    required: false,
    schema: schemaOf(schema as z.ZodType, 'input'),
  }));
  const options = endpoint.lane === 'direct' ? optionParameters() : [];
  const version = {
    name: 'Svc-Version',
    in: 'header',
    required: false,
    schema: { type: 'string', enum: [API_VERSION] },
  };
  const key = {
    name: 'Idempotency-Key',
    in: 'header',
    required: false,
    schema: { type: 'string', minLength: 1, maxLength: 255 },
  };
  return [
    ...inPath,
    ...inQuery,
    ...options,
    version,
    ...(endpoint.errors.includes('idempotency_conflict') ? [key] : []),
  ];
}

/** Options of direct requests as dotted query parameters. */
function optionParameters(): object[] {
  return flatOptions(optionsSchema, '').map(([name, schema]) => ({
    name,
    in: 'query',
    required: false,
    schema: schemaOf(schema, 'input'),
  }));
}

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

function contentOf(body: NonNullable<Endpoint['body']>): object {
  const bytes = { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } };
  if (body === 'bytes') return bytes;
  if (body !== 'file') return { 'application/json': { schema: schemaOf(body, 'input') } };
  const form = {
    type: 'object',
    required: ['file'],
    properties: {
      file: { type: 'string', format: 'binary' },
      options: { type: 'string', description: 'JSON object with options in the nested shape.' },
    },
  };
  return { ...bytes, 'multipart/form-data': { schema: form } };
}

function successes(endpoint: Endpoint): Record<string, object> {
  return Object.fromEntries(
    Object.entries(endpoint.responses).map(([status, { description, schema }]) => {
      const content =
        schema === undefined
          ? { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } }
          : { 'application/json': { schema: schemaOf(schema, 'output') } };
      return [status, { description, headers: commonHeaders(), content }];
    }),
  );
}

function failures(endpoint: Endpoint): Record<string, object> {
  const codes = [
    ...COMMON_ERRORS,
    ...(endpoint.lane === 'open' ? [] : KEY_ERRORS),
    ...(endpoint.lane === 'direct' ? DIRECT_ERRORS : []),
    ...endpoint.errors,
  ];
  const byStatus = Map.groupBy(new Set(codes), (code) => String(errorRow(code).status));
  return Object.fromEntries(
    [...byStatus].map(([status, inStatus]) => [
      status,
      {
        description: inStatus.map((code) => `\`${code}\`: ${errorRow(code).when}`).join('\n\n'),
        headers: commonHeaders(),
        content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
      },
    ]),
  );
}

function commonHeaders(): object {
  const text = { schema: { type: 'string' } };
  return { 'Svc-Request-Id': text, 'Svc-Version': text };
}

function errorSchema(): object {
  const text = { type: 'string' };
  const properties = {
    type: text,
    code: text,
    message: text,
    param: { type: ['string', 'null'] },
    request_id: text,
    doc_url: text,
  };
  return {
    type: 'object',
    required: ['error'],
    properties: { error: { type: 'object', required: Object.keys(properties), properties } },
  };
}

function schemaOf(schema: z.ZodType, io: 'input' | 'output'): object {
  const { $schema: _dialect, ...json } = z.toJSONSchema(schema, {
    target: 'draft-2020-12',
    io,
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema, path }) => {
      // Every custom type of ours is a string whose values another schema checks.
      if (zodSchema._zod.def.type === 'custom') jsonSchema.type = 'string';
      if (path.includes('options') && isLoose(jsonSchema)) becomeReference(jsonSchema, '#/components/schemas/Options');
    },
  });
  return json;
}

/** Requests take options as any object, so that a refusal can name the option at fault. */
function isLoose({ type, properties }: z.core.JSONSchema.BaseSchema): boolean {
  return type === 'object' && properties !== undefined && Object.keys(properties).length === 0;
}

function becomeReference(schema: z.core.JSONSchema.BaseSchema, target: string): void {
  delete schema.type;
  delete schema.properties;
  delete schema.additionalProperties;
  schema.$ref = target;
}
