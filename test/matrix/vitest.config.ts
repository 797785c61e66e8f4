import { defineConfig } from 'vitest/config';

/** Runs the matrix without the servers of other tests, in the worker image (hack/cluster/test-image). */
export default defineConfig({
  cacheDir: '/tmp/vitest',
  test: {
    include: ['test/matrix/*.test.ts'],
    pool: 'forks',
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
