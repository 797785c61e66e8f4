import { expect, it } from 'vitest';
import { ROUTES } from '#api/dashboard/routes.ts';

it('each method of a path has one route', () => {
  const names = ROUTES.map(({ method, path }) => `${method} ${path}`);
  expect(new Set(names).size).toBe(names.length);
});
