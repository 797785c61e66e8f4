import { expect } from 'vitest';
import type { ErrorCode } from '#crds/contract/error-codes.ts';
import type { Operation } from '#crds/catalogue/formats.ts';
import type { SentOptions } from '#crds/catalogue/options/options.ts';
import type { Bait, AttackOutcome } from '#test/hostile/attacked-engine.ts';

/** A hostile file, the request for it, and the allowed outcomes. */
export interface HostileFile {
  /** Completes "the engine withstands …". */
  readonly name: string;
  readonly filename: string;
  readonly bytes: (bait: Bait) => Buffer | Promise<Buffer>;
  /** Default: `compress`. */
  readonly operation?: Operation;
  readonly options?: SentOptions;
  /** Allowed outcomes. Several where versions of tools differ in what they can read. */
  readonly ends: readonly (ErrorCode | 'done')[];
  /** Pattern that the message of the refusal matches. */
  readonly says?: RegExp;
  /** Asserts properties of the result. */
  readonly result?: (outcome: AttackOutcome, bait: Bait) => void | Promise<void>;
}

/** Asserts that the outcome is one that the file allows. */
export async function expectOutcome(file: HostileFile, outcome: AttackOutcome, bait: Bait): Promise<void> {
  expect(file.ends, outcome.message).toContain(outcome.code);
  if (file.says !== undefined && outcome.code !== 'done') expect(outcome.message).toMatch(file.says);
  if (outcome.code === 'done') await file.result?.(outcome, bait);
}
