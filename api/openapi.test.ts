import { Validator } from '@seriousme/openapi-schema-validator';
import { describe, expect, it } from 'vitest';
import { ENDPOINTS } from '#api/endpoints.ts';
import { openApiDocument } from '#api/openapi.ts';

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

  it('has every endpoint, and nothing else', () => {
    const wanted = ENDPOINTS.map(({ method, path }) => `${method} ${path.replaceAll(/:([a-z_]+)/g, '{$1}')}`);
    expect(operations.map(({ name }) => name).toSorted()).toEqual(wanted.toSorted());
  });

  it('names each operation once', () => {
    const ids = operations.map(({ operation }) => operation.operationId);
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
  });

  it('has no dialect or other leftover of the schemas that it is made from', () => {
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

  it.each(operations)('gives the Error schema for every refusal of $name', ({ operation }) => {
    const refusals = Object.entries(operation.responses).filter(([status]) => Number(status) >= 400);
    expect(refusals.map(([status]) => status)).toEqual(expect.arrayContaining(['400', '403', '500']));
    for (const [status, { content }] of refusals) {
      const schema = content?.['application/json']?.schema;
      expect({ status, schema }).toEqual({ status, schema: { $ref: '#/components/schemas/Error' } });
    }
  });

  it.each(operations)('says each parameter of $name once, with what it may hold', ({ operation }) => {
    const names = operation.parameters.map((parameter) => `${parameter.in} ${parameter.name}`);
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
    const vague = operation.parameters.filter(({ schema }) => Object.keys(schema).length === 0);
    expect(vague.map(({ name }) => name)).toEqual([]);
  });
});

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
