import { Validator } from '@seriousme/openapi-schema-validator';
import { describe, expect, it } from 'vitest';
import { ENDPOINTS } from '#api/http/endpoints.ts';
import { openApiDocument } from '#api/openapi/openapi.ts';
import { ERROR_TYPES } from '#crds/contract/error-codes.ts';

interface Response {
  readonly content?: Record<string, { readonly schema?: object }>;
}
interface Operation {
  readonly operationId: string;
  readonly requestBody?: object;
  readonly parameters: readonly { readonly name: string; readonly in: string; readonly schema: object }[];
  readonly responses: Record<string, Response>;
}

const document = JSON.parse(JSON.stringify(openApiDocument(ENDPOINTS, 'https://media.test'))) as {
  paths: Record<string, Record<string, Operation>>;
};
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ name: `${method.toUpperCase()} ${path}`, operation })),
);

describe('the OpenAPI document', () => {
  it('is valid OpenAPI 3.1', async () => {
    const validator = new Validator();
    const { valid, errors } = await validator.validate(structuredClone(document));
    expect(errors).toBeUndefined();
    expect(valid).toBe(true);
    expect(validator.version).toBe('3.1');
  });

  it('has exactly the endpoints of the service', () => {
    const wanted = ENDPOINTS.map(({ method, path }) => `${method} ${path.replaceAll(/:([a-z_]+)/g, '{$1}')}`);
    expect(operations.map(({ name }) => name).toSorted()).toEqual(wanted.toSorted());
  });

  it('has unique operation ids', () => {
    const ids = operations.map(({ operation }) => operation.operationId);
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
  });

  it('has no dialect or other remainder of the zod schemas', () => {
    const keys = keysOf(document);
    expect(keys.filter((key) => key.startsWith('$') && key !== '$ref')).toEqual([]);
    expect(keys.filter((key) => key.startsWith('~'))).toEqual([]);
  });

  it('has a target for every reference', () => {
    const targets = referencesOf(document).map((reference) => [reference, targetOf(reference)]);
    expect(targets.filter(([, target]) => target === undefined)).toEqual([]);
  });

  it('describes the options of each request that takes them', () => {
    const vague = objectsOf(document).filter(
      ({ properties, additionalProperties }) =>
        typeof properties === 'object' && Object.keys(properties ?? {}).length === 0 && additionalProperties !== false,
    );
    expect(vague).toEqual([]);
    for (const path of ['/v1/jobs', '/v1/presets', '/v1/estimate']) {
      const body = referencesOf(document.paths[path]?.['post']?.requestBody);
      expect([...body, ...body.flatMap((name) => referencesOf(targetOf(name)))]).toContain(
        '#/components/schemas/Options',
      );
    }
  });

  it('lists the types and codes of errors', () => {
    const { type, code } = propertyOf('Error', 'error').properties ?? {};
    expect(type?.enum).toEqual(ERROR_TYPES);
    expect(code?.enum).toContain('spend_cap_reached');
    expect(code?.enum).not.toContain('input_missing');
    const ofJob = propertyOf('Job', 'error').anyOf?.[0]?.properties ?? {};
    expect(ofJob['type']?.enum).toEqual(ERROR_TYPES);
    expect(ofJob['code']?.enum).toContain('input_missing');
  });

  it('requires exactly one of the fields of `input`', () => {
    const { properties, oneOf } = propertyOf('JobRequest', 'input');
    expect(Object.keys(properties ?? {})).toEqual(['upload', 'url']);
    expect(oneOf).toEqual([{ required: ['upload'] }, { required: ['url'] }]);
  });

  it.each([
    ['post', '/v1/convert'],
    ['get', '/v1/jobs/{id}/output'],
  ])('describes the JSON that %s %s returns for a table as rows, and other files as bytes', (method, path) => {
    const content = document.paths[path]?.[method]?.responses['200']?.content;
    expect(content?.['application/json']?.schema).toEqual({ type: 'array', items: { type: 'object' } });
    expect(content?.['text/csv']?.schema).toEqual({ type: 'string', format: 'binary' });
  });

  it('describes sizes as integers without a maximum', () => {
    expect(propertyOf('EstimateRequest', 'size')).toMatchObject({ type: 'integer', exclusiveMinimum: 0 });
    expect(propertyOf('EstimateRequest', 'size')).not.toHaveProperty('maximum');
  });

  it.each(['convert', 'strip-metadata'])('has the short names of options of %s', (name) => {
    const { parameters = [] } = document.paths[`/v1/${name}`]?.['post'] ?? {};
    const schemas = Object.fromEntries(parameters.map((parameter) => [parameter.name, parameter.schema]));
    expect(schemas).toMatchObject({
      to: { type: 'string' },
      page: { type: 'integer', minimum: 1 },
      dpi: { type: 'integer', minimum: 36, maximum: 600 },
    });
  });

  it.each(operations)('has the Error schema for every refusal of $name', ({ operation }) => {
    const refusals = Object.entries(operation.responses).filter(([status]) => Number(status) >= 400);
    expect(refusals.map(([status]) => status)).toEqual(expect.arrayContaining(['400', '403', '500']));
    for (const [status, { content }] of refusals) {
      const schema = content?.['application/json']?.schema;
      expect({ status, schema }).toEqual({ status, schema: { $ref: '#/components/schemas/Error' } });
    }
  });

  it.each(operations)('describes each parameter of $name once, with a schema', ({ operation }) => {
    const names = operation.parameters.map((parameter) => `${parameter.in} ${parameter.name}`);
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
    const vague = operation.parameters.filter(({ schema }) => Object.keys(schema).length === 0);
    expect(vague.map(({ name }) => name)).toEqual([]);
  });
});

interface Schema {
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly object[];
}

function propertyOf(component: string, property: string): Schema {
  const { properties } = targetOf(`#/components/schemas/${component}`) as Schema;
  return properties?.[property] ?? {};
}

function objectsOf(value: unknown): Record<string, unknown>[] {
  if (typeof value !== 'object' || value === null) return [];
  return [value as Record<string, unknown>, ...Object.values(value).flatMap(objectsOf)];
}

function keysOf(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => [key, ...keysOf(inner)]);
}

function referencesOf(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    key === '$ref' && typeof inner === 'string' ? [inner] : referencesOf(inner),
  );
}

function targetOf(reference: string): unknown {
  let target: unknown = document;
  for (const step of reference.replace('#/', '').split('/')) target = (target as Record<string, unknown>)?.[step];
  return target;
}
