import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadSamples, type Sample } from '#api/samples/samples.ts';
import { CONVERT_TARGETS, OPERATION_KINDS, type Format, type Kind, type Operation } from '#crds/formats.ts';
import { MediaError } from '#crds/media-error.ts';
import { resolveOptions } from '#crds/options/options.ts';
import { fileLimits } from '#crds/plans.ts';
import type { EngineResult } from '#crds/result.ts';
import { loadHandler } from '#worker-image/engine/handlers.ts';
import { processFile } from '#worker-image/engine/process-file.ts';
import { makeRunCommand } from '#worker-image/tools/run-command.ts';

const samples = loadSamples().all;

describe('a published sample, worked on by the real tools,', () => {
  it.each(samples.filter((sample) => sample.expected_error === null).flatMap(tasksOf))(
    '$sample.name gives its result for $operation to $to',
    async ({ sample, operation, to }) => {
      const result = await work(sample.name, operation, to);
      expect(result).toMatchObject({ kind: sample.kind, input_format: sample.format, original_size: sample.size });
      if (operation === 'compress') expect(result.savings_percent).toBeGreaterThan(10);
      if (operation === 'convert') expect(result.output_format).toBe(to);
    },
    120_000,
  );

  it.each(samples.filter((sample) => sample.expected_error !== null))(
    '$name is refused with $expected_error',
    async ({ name, expected_error: expected }) => {
      const refusal = await work(name, 'compress', null).catch((error: unknown) => error);
      expect(refusal).toBeInstanceOf(MediaError);
      expect(refusal).toMatchObject({ code: expected });
    },
    60_000,
  );
});

interface SampleTask {
  readonly sample: Sample;
  readonly operation: Operation;
  readonly to: Format | null;
}

/** Compress where the kind has it, and the first convert target that is another format. */
function tasksOf(sample: Sample): SampleTask[] {
  const kind = sample.kind as Kind;
  const to = CONVERT_TARGETS[kind].find((target) => target !== sample.format) ?? null;
  const convert = { sample, operation: 'convert' as const, to };
  return OPERATION_KINDS.compress.includes(kind) ? [{ sample, operation: 'compress', to: null }, convert] : [convert];
}

async function work(name: string, operation: Operation, to: Format | null): Promise<EngineResult> {
  const directory = await mkdtemp(join(tmpdir(), 'sample-'));
  try {
    const deps = {
      run: makeRunCommand(),
      onProgress: () => undefined,
      signal: new AbortController().signal,
      loadHandler,
      versions: {},
    };
    const { report } = await processFile(deps, {
      lane: 'job',
      operation,
      options: resolveOptions(new Map(to === null ? [] : [['convert.to', to]])),
      limits: fileLimits('payg'),
      features: { video: true, heicOutput: true },
      path: join(import.meta.dirname, '../../api/samples/files', name),
      filename: name,
      directory,
    });
    return report.result;
  } finally {
    await rm(directory, { recursive: true });
  }
}
