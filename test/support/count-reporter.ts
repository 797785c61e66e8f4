import type { Reporter, TestModule } from 'vitest/node';

/**
 * Ends the run's output with a line for each failure, `failed: file > test: why`, and one plain line:
 * `N passed, N failed`. A file that does not load, and an error outside all tests, count as one failure
 * each. Skipped tests are in neither number.
 */
export default class CountReporter implements Reporter {
  // A run that ends before its tests, because a server did not start, is one failure.
  #lines = ['failed: the set-up', '0 passed, 1 failed'];

  onInit(): void {
    // Vitest's own reporters and the servers' tear-down write until the very end.
    process.once('exit', () => process.stdout.write(`${this.#lines.join('\n')}\n`));
  }

  onTestRunEnd(modules: readonly TestModule[], errors: readonly { message: string }[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const passed = tests.filter((test) => test.result().state === 'passed').length;
    const failures = [
      ...tests
        .filter((test) => test.result().state === 'failed')
        .map((test) => failure(`${test.module.relativeModuleId} > ${test.fullName}`, test.result().errors)),
      ...modules.filter(isBroken).map((module) => failure(module.relativeModuleId, module.errors())),
      ...errors.map((error) => failure('outside all tests', [error])),
    ];
    // Without a single file the set-up failed.
    if (modules.length === 0) failures.push('failed: the set-up');
    if (failures.length > 0) process.exitCode = 1;
    this.#lines = [...failures, `${passed} passed, ${failures.length} failed`];
  }
}

function failure(what: string, errors: readonly { message: string }[] | undefined): string {
  const why = errors?.[0]?.message.split('\n', 1)[0] ?? 'an error outside its tests';
  return `failed: ${what}: ${why}`;
}

/** True when it failed without any of its tests failing. */
function isBroken(module: TestModule): boolean {
  return module.state() === 'failed' && ![...module.children.allTests('failed')].length;
}
