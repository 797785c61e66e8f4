/** The OpenAPI 3.1 document, derived from the endpoints and the schemas that validate requests. */
import type { z } from 'zod';
import type { Endpoint } from '#api/http/endpoint.ts';
import { API_VERSION } from '#api/interface-version.ts';
import { makeSchemaWriter, type JsonSchema, type SchemaWriter } from '#api/openapi/json-schemas.ts';
import { parametersOf } from '#api/openapi/parameters.ts';
import { responsesOf } from '#api/openapi/responses.ts';
import { jobEventSchema, pingEventSchema } from '#api/openapi/webhook-events.ts';
import { ERROR_CODE_NAMES, ERROR_TYPES, errorRow } from '#crds/contract/error-codes.ts';
import { optionsSchema } from '#crds/catalogue/options/options.ts';

/** Returns the OpenAPI document for a server at an address. */
export function openApiDocument(endpoints: readonly Endpoint[], baseUrl: string): object {
  const writer = makeSchemaWriter(optionsSchema);
  const paths: Record<string, Record<string, object>> = {};
  for (const endpoint of endpoints) {
    const path = endpoint.path.replaceAll(/:([a-z_]+)/g, '{$1}');
    paths[path] = { ...paths[path], [endpoint.method.toLowerCase()]: operation(writer, endpoint) };
  }
  const webhooks = { job: webhook(writer, jobEventSchema), ping: webhook(writer, pingEventSchema) };
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
    webhooks,
    components: {
      securitySchemes: { key: { type: 'http', scheme: 'bearer', description: '`svc_live_…` or `svc_test_…`' } },
      schemas: { Error: errorSchema(), ...writer.components() },
    },
  };
}

function operation(writer: SchemaWriter, endpoint: Endpoint): object {
  return {
    operationId: operationId(endpoint),
    summary: endpoint.summary,
    security: endpoint.lane === 'public' ? [] : securityOf(endpoint),
    parameters: parametersOf(writer, endpoint),
    ...(endpoint.body === undefined
      ? {}
      : { requestBody: { required: true, content: contentOf(writer, endpoint.body) } }),
    responses: responsesOf(writer, endpoint),
  };
}

function operationId({ method, path }: Endpoint): string {
  const words = path
    .replace('/v1/', '')
    .replaceAll(/:([a-z_]+)/g, 'by_$1')
    .split(/[/_-]/);
  return [method.toLowerCase(), ...words.map((word) => word.charAt(0).toUpperCase() + word.slice(1))].join('');
}

function securityOf(endpoint: Exclude<Endpoint, { lane: 'public' }>): object[] {
  return endpoint.signedLink === undefined ? [{ key: [] }] : [{ key: [] }, {}];
}

function contentOf(writer: SchemaWriter, body: NonNullable<Endpoint['body']>): object {
  const bytes = { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } };
  if (body === 'bytes') return bytes;
  if (body !== 'file') return { 'application/json': { schema: writer.write(body, 'input') } };
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

/** Returns the operation by which the service sends an event to a receiver. */
function webhook(writer: SchemaWriter, event: z.ZodType): object {
  return {
    post: {
      summary: event.description ?? '',
      requestBody: { required: true, content: { 'application/json': { schema: writer.write(event, 'output') } } },
      responses: { '2XX': { description: 'Received. Any other status, or none within 10 seconds, is a failure.' } },
    },
  };
}

function errorSchema(): JsonSchema {
  const text = { type: 'string' } as const;
  const codes = ERROR_CODE_NAMES.filter((code) => errorRow(code).status !== null);
  const properties = {
    type: { ...text, enum: [...ERROR_TYPES] },
    code: { ...text, enum: codes, description: 'Stable; the reference page lists when each is returned.' },
    message: text,
    param: { type: ['string', 'null'], description: 'The field or option at fault.' } as unknown as JsonSchema,
    request_id: text,
    doc_url: text,
  };
  return {
    type: 'object',
    required: ['error'],
    properties: { error: { type: 'object', required: Object.keys(properties), properties } },
  };
}
