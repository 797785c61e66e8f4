import type { Reporter, TestModule } from 'vitest/node';

/**
 * Ends the run's output with one plain line: `N passed, N failed`. A file that does not load, and an
 * error outside all tests, count as one failure each. Skipped tests are in neither number.
 */
export default class CountReporter implements Reporter {
  // A run that ends before its tests, because a server did not start, is one failure.
  #line = '0 passed, 1 failed';

  onInit(): void {
    // Vitest's own reporters and the servers' tear-down write until the very end.
    process.once('exit', () => process.stdout.write(`${this.#line}\n`));
  }

  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const results = modules.flatMap((module) => [...module.children.allTests()].map((test) => test.result().state));
    const passed = results.filter((state) => state === 'passed').length;
    const failed = results.filter((state) => state === 'failed').length;
    // Without a single file the set-up failed.
    const broken = modules.length === 0 ? 1 : modules.filter(isBroken).length + errors.length;
    if (failed + broken > 0) process.exitCode = 1;
    this.#line = `${passed} passed, ${failed + broken} failed`;
  }
}

/** True when it failed without any of its tests failing. */
function isBroken(module: TestModule): boolean {
  return module.state() === 'failed' && ![...module.children.allTests('failed')].length;
}
