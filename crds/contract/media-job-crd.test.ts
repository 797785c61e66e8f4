import { describe, expect, it } from 'vitest';
import { buildMediaJobCrd } from '#crds/contract/media-job-crd.ts';
import { mediaJobSpecSchema } from '#crds/contract/media-job.ts';
import { CRD_NAME } from '#crds/contract/names.ts';

type Node = Record<string, unknown>;

const crd = buildMediaJobCrd();
const version = crd.spec.versions[0];
const root = version?.schema.openAPIV3Schema as Node;

/** Returns every node of the schema with its path. */
function nodes(node: Node, path = ''): [string, Node][] {
  const properties = Object.entries((node['properties'] ?? {}) as Record<string, Node>);
  const below = properties.flatMap(([name, child]) => nodes(child, `${path}.${name}`));
  const items = node['items'] === undefined ? [] : nodes(node['items'] as Node, `${path}[]`);
  const values =
    node['additionalProperties'] === undefined ? [] : nodes(node['additionalProperties'] as Node, `${path}.*`);
  return [[path, node], ...below, ...items, ...values];
}

describe('MediaJob CRD', () => {
  it('has a name of its plural and group', () => {
    expect(crd.metadata.name).toBe(`${crd.spec.names.plural}.${crd.spec.group}`);
    expect(crd.metadata.name).toBe(CRD_NAME);
  });

  it('describes every field for kubectl explain, with its bounds', () => {
    const fields = nodes(root).filter(([path]) => /^\.(spec|status)/.test(path) && !/(\[\]|\*)$/.test(path));
    for (const [path, node] of fields) {
      const { description, minimum, maximum } = node as { description?: string; minimum?: number; maximum?: number };
      expect(description, path).toMatch(/^[^]+\.( |$)/);
      if (minimum !== undefined) expect(description, path).toContain(`From ${minimum}`);
      if (maximum !== undefined) expect(description, path).toContain(`to ${maximum}`);
    }
    const quality = fields.find(([path]) => path === '.spec.options.image.quality')?.[1];
    expect(quality?.['description']).toContain('0 to 100');
  });

  it('has a structural schema: one type per node and no keyword that an API server refuses', () => {
    for (const [path, node] of nodes(root)) {
      expect(node['type'], path).toBeTypeOf('string');
      for (const keyword of [
        '$ref',
        '$schema',
        'anyOf',
        'oneOf',
        'allOf',
        'not',
        'const',
        'definitions',
        'uniqueItems',
      ]) {
        expect(node, `${path} ${keyword}`).not.toHaveProperty(keyword);
      }
      expect('properties' in node && 'additionalProperties' in node, path).toBe(false);
    }
  });

  it('limits every text, list and map, so that the cost of its rules is bounded', () => {
    for (const [path, node] of nodes(root)) {
      if (path === '' || ['.apiVersion', '.kind', '.metadata'].includes(path)) continue;
      if (node['type'] === 'string')
        expect('maxLength' in node || 'enum' in node || node['format'] === 'date-time', path).toBe(true);
      if (node['type'] === 'array') expect(node, path).toHaveProperty('maxItems');
      if ('additionalProperties' in node) expect(node, path).toHaveProperty('maxProperties');
    }
  });

  it('has no nullable enum, because an API server refuses null for it', () => {
    for (const [path, node] of nodes(root)) expect(node['nullable'] === true && 'enum' in node, path).toBe(false);
  });

  it('has a rule for every field of the spec', () => {
    const spec = (root['properties'] as Record<string, Node>)['spec'];
    const rules = ((spec?.['x-kubernetes-validations'] ?? []) as { rule: string }[]).map(({ rule }) => rule);
    for (const name of Object.keys(mediaJobSpecSchema.shape)) {
      expect(rules.filter((rule) => new RegExp(`self\\.${name}\\b`).test(rule)).length, name).toBeGreaterThan(0);
    }
    expect(rules).toContain('!self.suspend || oldSelf.suspend');
  });

  it('refuses changes of final phases and decreasing attempts', () => {
    const status = (root['properties'] as Record<string, Node>)['status'];
    expect(status?.['x-kubernetes-validations']).toEqual([
      expect.objectContaining({ rule: "!(oldSelf.phase in ['Succeeded', 'Failed']) || self == oldSelf" }),
      expect.objectContaining({ rule: 'self.attempt >= oldSelf.attempt' }),
    ]);
  });

  it('has printer columns and selectable fields for existing fields only', () => {
    const known = new Set(nodes(root).map(([path]) => path));
    const paths = [...(version?.additionalPrinterColumns ?? []), ...(version?.selectableFields ?? [])].map(
      ({ jsonPath }) => jsonPath,
    );
    for (const path of paths.filter((candidate) => !candidate.startsWith('.metadata.')))
      expect(known, path).toContain(path);
  });
});
