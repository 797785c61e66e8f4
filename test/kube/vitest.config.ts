import { defineConfig } from 'vitest/config';

/** The tests that need a real API server, whose programs `hack/test-kube` builds first. */
export default defineConfig({
  test: {
    name: 'kube',
    include: ['test/kube/**/*.test.ts'],
    globalSetup: ['test/support/servers.ts', 'test/support/shared-control-plane.ts'],
    pool: 'forks',
    fileParallelism: false,
    // Some tests repeat the life of a job for each of its writes.
    testTimeout: 300_000,
    hookTimeout: 120_000,
  },
});
