import { defineConfig } from 'vitest/config';

/** The matrix alone, without the servers of the other tests: for the worker image (hack/cluster/test-image). */
export default defineConfig({
  cacheDir: '/tmp/vitest',
  test: {
    include: ['test/matrix/*.test.ts'],
    pool: 'forks',
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
