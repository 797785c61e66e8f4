import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['{api,controller,crds,hack,test,worker-image}/**/*.test.ts'],
    globalSetup: ['test/support/servers.ts'],
    pool: 'forks',
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
