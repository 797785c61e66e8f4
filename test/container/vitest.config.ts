import { defineConfig } from 'vitest/config';

/** The tests of the image of one machine, which need Docker. `hack/test-container` runs them. */
export default defineConfig({
  test: {
    pool: 'forks',
    fileParallelism: false,
    include: ['test/container/*.test.ts'],
    testTimeout: 300_000,
    hookTimeout: 300_000,
  },
});
