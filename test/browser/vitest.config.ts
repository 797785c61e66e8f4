import { defineConfig } from 'vitest/config';

/** The dashboard in a real browser, against a service of its own and an identity provider. `hack/test-browser` runs it. */
export default defineConfig({
  test: {
    name: 'browser',
    pool: 'forks',
    testTimeout: 60_000,
    hookTimeout: 60_000,
    fileParallelism: false,
    include: ['test/browser/*.test.ts'],
    globalSetup: ['test/support/browser-service.ts'],
  },
});
