import { defineConfig } from 'vitest/config';

/** The tests that need more than a clean clone has: an S3 server, a Kubernetes cluster. `hack/e2e` runs them. */
export default defineConfig({
  test: {
    include: ['test/e2e/**/*.test.ts'],
    pool: 'forks',
    fileParallelism: false,
    testTimeout: 300_000,
    hookTimeout: 300_000,
  },
});
