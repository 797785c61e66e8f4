import { describe, expect, it } from 'vitest';
import { matchRoutes } from '#api/dashboard/match-route.ts';
import { ROUTES } from '#api/dashboard/routes.ts';

const found = (path: string) =>
  matchRoutes(ROUTES, path).map(({ route, params }) => [route.method, route.path, params]);

describe('the route of a path', () => {
  it('has the path’s parts as parameters', () => {
    expect(found('/accounts/acc_1/keys/key%5f2/revoke')).toEqual([
      ['POST', '/accounts/:account/keys/:key/revoke', { account: 'acc_1', key: 'key_2' }],
    ]);
  });

  it('with fewer parameters goes before one that fits too', () => {
    expect(found('/accounts/acc_1/jobs/live')).toEqual([['GET', '/accounts/:account/jobs/live', { account: 'acc_1' }]]);
  });

  it.each(['/nowhere', '/accounts', '/accounts/', '/accounts//keys', '/links/%00', '/links/%zz', '/keys'])(
    'is none for %s',
    (path) => {
      expect(found(path)).toEqual([]);
    },
  );

  it('stands in the list once', () => {
    const names = ROUTES.map(({ method, path }) => `${method} ${path}`);
    expect(new Set(names).size).toBe(names.length);
  });
});
