import { defineConfig } from 'vitest/config';

const common = { pool: 'forks', testTimeout: 60_000, hookTimeout: 60_000 } as const;

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          ...common,
          name: 'parts',
          include: ['{api,controller,crds,hack,test,worker-image}/**/*.test.ts'],
          exclude: ['test/http/**'],
          globalSetup: ['test/support/servers.ts'],
        },
      },
      {
        test: { ...common, name: 'service', include: ['test/http/**/*.test.ts'], globalSetup: ['test/support/shared-service.ts'] },
      },
    ],
  },
});
