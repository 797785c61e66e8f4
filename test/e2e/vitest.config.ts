import { basename } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** The last one uninstalls the chart. */
const ORDER = [
  'chart',
  'chart-values',
  'alerts',
  's3-files',
  'expiring-credentials',
  'cluster',
  'standbys',
  'platform-user',
  'network-policies',
  'faults',
  'outages',
  'silence',
  'problems',
  'gitops',
  'changes',
].map((name) => `${name}.test.ts`);

class InOrder extends BaseSequencer {
  override sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const position = ({ moduleId }: TestSpecification): number => ORDER.indexOf(basename(moduleId));
    return Promise.resolve(files.toSorted((a, b) => position(a) - position(b)));
  }
}

const common = { pool: 'forks', testTimeout: 300_000, hookTimeout: 300_000 } as const;
const withoutService = ['test/e2e/{alerts,chart,chart-values,expiring-credentials,s3-files}.test.ts'];

/** The tests that need more than a clean clone has: an S3 server, a Kubernetes cluster. `hack/e2e` runs them. */
export default defineConfig({
  test: {
    fileParallelism: false,
    sequence: { sequencer: InOrder },
    projects: [
      { test: { ...common, name: 'chart', include: withoutService, sequence: { groupOrder: 1 } } },
      {
        test: {
          ...common,
          name: 'cluster',
          include: ['test/e2e/*.test.ts'],
          exclude: withoutService,
          globalSetup: ['test/e2e/installed-service.ts'],
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});
