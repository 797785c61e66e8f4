import { expect } from 'vitest';
import type { ErrorCode } from '#crds/error-codes.ts';
import type { Operation } from '#crds/formats.ts';
import type { SentOptions } from '#crds/options/options.ts';
import type { Bait, Outcome } from '#test/hostile/attacked-engine.ts';

/** One hostile file: how it is made, what is asked of it, and how that must end. */
export interface HostileFile {
  /** Completes "the engine withstands …". */
  readonly name: string;
  readonly filename: string;
  readonly bytes: (bait: Bait) => Buffer | Promise<Buffer>;
  /** `compress` when it is left out. */
  readonly operation?: Operation;
  readonly options?: SentOptions;
  /** The endings that are right. More than one where tools of different versions read on differently. */
  readonly ends: readonly (ErrorCode | 'done')[];
  /** What the refusal's message holds. */
  readonly says?: RegExp;
  /** What the result must be like. */
  readonly result?: (outcome: Outcome, bait: Bait) => void | Promise<void>;
}

/** Fails the test unless the file ended as its row says. */
export async function expectEnding(file: HostileFile, outcome: Outcome, bait: Bait): Promise<void> {
  expect(file.ends, outcome.message).toContain(outcome.code);
  if (file.says !== undefined && outcome.code !== 'done') expect(outcome.message).toMatch(file.says);
  if (outcome.code === 'done') await file.result?.(outcome, bait);
}
