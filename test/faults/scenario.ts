/** A fault, and the invariants that must hold during and after it. */
import type { PlanName } from '#crds/catalogue/plans.ts';
import type { FaultAccount } from '#test/faults/account.ts';
import type { SeededRandom } from '#test/faults/seeded-random.ts';
import type { World } from '#test/faults/world.ts';

export interface Stage {
  readonly world: World;
  /** New account for this run. */
  readonly account: FaultAccount;
  /** Opens another account. */
  readonly newAccount: (plan?: PlanName) => Promise<FaultAccount>;
  readonly random: SeededRandom;
  /** Returns the number of rounds of a race: few in a sample, all with `--all`. */
  readonly rounds: (all: number) => number;
  /** Adds a line to the report. */
  readonly note: (text: string) => void;
}

export interface Scenario {
  readonly name: string;
  readonly breaks: string;
  readonly holds: string;
  readonly plan?: PlanName;
  /** Webhook attempts that a crash in this scenario may double. */
  readonly repeats?: number;
  /** Token buckets that may have been refilled because Redis failed. */
  readonly extraBuckets?: number;
  /** Seeds of `--all`; default 20. */
  readonly seeds?: number;
  /** Not in the sample, because it takes long. */
  readonly slow?: boolean;
  /** File store of the service; default: on disk. */
  readonly files?: 'bucket';
  /** @throws Error when an expectation fails. The invariants are checked afterwards. */
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
