/** One thing that breaks, and what must hold all the same. */
import type { PlanName } from '#crds/plans.ts';
import type { TestAccount } from '#test/faults/account.ts';
import type { SeededRandom } from '#test/faults/seeded-random.ts';
import type { World } from '#test/faults/world.ts';

export interface Stage {
  readonly world: World;
  /** Fresh for this run. */
  readonly account: TestAccount;
  /** Another fresh one. */
  readonly newAccount: (plan?: PlanName) => Promise<TestAccount>;
  readonly random: SeededRandom;
  /** How many rounds a race runs: few in a sample, all with `--all`. */
  readonly rounds: (all: number) => number;
  /** What is worth a line of the report. */
  readonly note: (text: string) => void;
}

export interface Scenario {
  readonly name: string;
  readonly breaks: string;
  readonly holds: string;
  readonly plan?: PlanName;
  /** Webhook attempts that a crash in this scenario may double. */
  readonly repeats?: number;
  /** Buckets of tokens that may have been full anew, since Redis failed. */
  readonly extraBuckets?: number;
  /** Seeds of `--all`; default 20. */
  readonly seeds?: number;
  /** Not in the sample, for its time. */
  readonly slow?: boolean;
  /** Where the service keeps files; default: on disk. */
  readonly files?: 'bucket';
  /** @throws Error when something does not hold. The invariants are checked after it. */
  readonly run: (stage: Stage) => Promise<void>;
}

/** @throws Error */
export function must(condition: boolean, what: string): asserts condition {
  if (!condition) throw new Error(what);
}

/** @throws Error when they differ */
export function mustEqual(actual: unknown, expected: unknown, what: string): void {
  const [one, other] = [JSON.stringify(actual), JSON.stringify(expected)];
  must(one === other, `${what}: ${one} instead of ${other}`);
}
