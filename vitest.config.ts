import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { CODE_CACHE } from './api/embedded/code-cache.ts';
import { LongestFirst } from './test/support/longest-first.ts';

const common = {
  pool: 'forks',
  // Files share the workers and the modules that these have loaded.
  isolate: false,
  // Most of the time of a started process is that of compiling its modules.
  env: { NODE_COMPILE_CACHE: CODE_CACHE },
  testTimeout: 60_000,
  hookTimeout: 60_000,
} as const;

/**
 * Tests that measure the memory of their own process, which other files would have enlarged before, or the CPU time of
 * a service.
 */
const MEASURED = [
  ...['caller', 'child', 'tool'].map((name) => `test/boundaries/hostile-${name}.test.ts`),
  'test/bench/request-cost.test.ts',
];

export default defineConfig({
  test: {
    // Many tests wait for a tool or a process: one more than the processors keeps those busy.
    maxWorkers: availableParallelism() + 1,
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        test: {
          ...common,
          name: 'parts',
          include: ['{api,controller,crds,hack,test,worker-image}/**/*.test.ts'],
          exclude: [
            'test/http/**',
            'test/openapi/**',
            'test/crash/**',
            'test/e2e/**',
            'test/kube/**',
            'test/browser/**',
            'test/container/**',
            'test/properties/service/**',
            'test/boundaries/service/**',
            'test/boundaries/hostile-member.test.ts',
            'test/boundaries/hostile-caller-load.test.ts',
            ...MEASURED,
          ],
          globalSetup: ['test/support/warm-cache.ts', 'test/support/servers.ts'],
        },
      },
      {
        test: {
          ...common,
          name: 'measured',
          isolate: true,
          include: MEASURED,
          globalSetup: ['test/support/warm-cache.ts', 'test/support/servers.ts'],
        },
      },
      {
        test: {
          ...common,
          name: 'service',
          include: [
            'test/{http,openapi,properties/service,boundaries/service}/**/*.test.ts',
            'test/boundaries/hostile-member.test.ts',
          ],
          globalSetup: ['test/support/warm-cache.ts', 'test/support/shared-service.ts'],
        },
      },
      {
        // Each of these starts a service of its own and kills parts of it.
        test: {
          ...common,
          name: 'crash',
          include: ['test/crash/**/*.test.ts', 'test/boundaries/hostile-caller-load.test.ts'],
          globalSetup: ['test/support/warm-cache.ts'],
        },
      },
    ],
  },
});
