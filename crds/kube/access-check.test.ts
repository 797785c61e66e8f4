import { describe, expect, it } from 'vitest';
import { missingAccess, type AccessNeeds } from '#crds/kube/access-check.ts';
import { KubeError } from '#crds/kube/kube-error.ts';
import type { KubeObject } from '#crds/kube/kube-object.ts';
import { mockObject } from '#test/support/mock-api-server.ts';

const NEEDS: AccessNeeds = {
  namespace: 'media',
  customResource: { groupVersion: 'mock/v1', plural: 'things', crd: 'things.mock' },
  access: [
    { group: '', resource: 'pods', verbs: ['list', 'watch'] },
    { group: 'mock', resource: 'things', subresource: 'status', verbs: ['patch'] },
  ],
};

interface Review {
  readonly spec: { readonly resourceAttributes: { readonly verb: string; readonly resource: string } };
}

/** Returns what is missing when the API server serves the resources and allows all verbs except the forbidden ones. */
function missing({ served = ['things'], forbidden = [] }: { served?: string[]; forbidden?: string[] }) {
  const resources = served.map((name) => ({ name }));
  return missingAccess(
    {
      get: async (): Promise<KubeObject> => ({ ...mockObject('list', 1), resources }),
      create: async (_path: string, body: object): Promise<KubeObject> => {
        const { verb } = (body as Review).spec.resourceAttributes;
        return { ...mockObject('review', 1), status: { allowed: !forbidden.includes(verb) } };
      },
    },
    NEEDS,
  );
}

describe('missingAccess', () => {
  it('returns nothing when nothing is missing', async () => {
    expect(await missing({})).toEqual([]);
  });

  it('names the missing definition and how to install it', async () => {
    expect(await missing({ served: ['others'] })).toEqual([expect.stringContaining('things.mock is missing: install')]);
  });

  it('names the missing verbs by resource', async () => {
    expect(await missing({ forbidden: ['watch', 'patch'] })).toEqual([
      'This service account may not watch pods in namespace media: add the verbs to its Role.',
      'This service account may not patch things/status.mock in namespace media: add the verbs to its Role.',
    ]);
  });

  it.each([
    ['the definition is missing', new KubeError('not found', { status: 404 }), 'crds.enabled=true'],
    ['the server does not respond', new Error('ECONNREFUSED'), 'The API server cannot be reached: ECONNREFUSED'],
  ])('returns a sentence when %s', async (_what, error, text) => {
    const client = { get: () => Promise.reject(error), create: () => Promise.reject(error) };
    expect(await missingAccess(client, NEEDS)).toEqual([expect.stringContaining(text)]);
  });
});
