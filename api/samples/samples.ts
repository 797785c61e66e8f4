/** The files that test keys work with: published with the service, made by `hack/make-samples.ts`. Spec: Test keys. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { isErrorCode, type ErrorCode } from '#crds/error-codes.ts';
import { FORMAT_NAMES, KINDS } from '#crds/formats.ts';

export const sampleSchema = z.strictObject({
  name: z.string().regex(/^[a-z0-9.-]+$/),
  /** null: none of ours, on purpose. */
  kind: z.enum(KINDS).nullable(),
  format: z.enum(FORMAT_NAMES).nullable(),
  size: z.int().min(1),
  /** Hex. */
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  /** What a payg account gets for it; null when the service works on it. */
  expected_error: z.custom<ErrorCode>((text) => typeof text === 'string' && isErrorCode(text)).nullable(),
});
export type Sample = z.infer<typeof sampleSchema>;

export interface Samples {
  readonly all: readonly Sample[];
  /** The sample with that content; null when it is none. */
  bySha256(hex: string): Sample | null;
  /** False when no sample has so many bytes: such a file need not be read to be refused. */
  hasSize(bytes: number): boolean;
}

/** @throws ZodError when the manifest that came with the service is damaged. */
export function loadSamples(): Samples {
  const manifest: unknown = JSON.parse(readFileSync(join(import.meta.dirname, 'manifest.json'), 'utf8'));
  const all = z.array(sampleSchema).parse(manifest);
  const byHash = new Map(all.map((sample) => [sample.sha256, sample]));
  const sizes = new Set(all.map((sample) => sample.size));
  return {
    all,
    bySha256: (hex) => byHash.get(hex) ?? null,
    hasSize: (bytes) => sizes.has(bytes),
  };
}
