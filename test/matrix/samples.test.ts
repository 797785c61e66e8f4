/** Processes every published sample: valid ones have a result, the others the error of the manifest. */
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadSamples, type Sample } from '#api/samples/samples.ts';
import {
  CONVERT_TARGETS,
  FORMATS,
  OPERATION_KINDS,
  type Format,
  type Kind,
  type Operation,
} from '#crds/catalogue/formats.ts';
import type { EngineResult } from '#crds/contract/result.ts';
import { startMatrixEngine, type MatrixEngine } from '#test/matrix/engine.ts';

const TIMEOUT_MS = 180_000;
const samples = loadSamples().all;
const valid = samples.filter((sample) => sample.expected_error === null);
/** First valid sample of each kind, which demonstrations send: compression must make it smaller. */
const shown = new Set(valid.filter((sample, i) => valid.findIndex(({ kind }) => kind === sample.kind) === i));
/** Kinds that are converted here. The matrix converts documents to every target. */
const CONVERTED: readonly Kind[] = ['image', 'pdf', 'video', 'audio', 'table', 'font'];

let engine: MatrixEngine;
beforeAll(async () => {
  engine = await startMatrixEngine();
});
afterAll(() => engine.close());

interface Task {
  readonly operation: Operation;
  /** Target of a conversion, else null. */
  readonly to: Format | null;
}

/** Returns a task per operation. Each sample has another target, except video, which would take minutes. */
function tasksOf(sample: Sample, index: number): (readonly [string, Operation, Format | null, Sample])[] {
  const { kind, format } = sample;
  if (kind === null || format === null) return [];
  const row: { readonly raw?: true } = FORMATS[format];
  const targets = CONVERT_TARGETS[kind].filter((target) => target !== format);
  const tasks: Task[] = OPERATION_KINDS.compress.includes(kind) ? [{ operation: 'compress', to: null }] : [];
  if (CONVERTED.includes(kind) && row.raw !== true)
    tasks.push({ operation: 'convert', to: targets[kind === 'video' ? 0 : index % targets.length] ?? null });
  if (OPERATION_KINDS.strip_metadata.includes(kind) && row.raw !== true)
    tasks.push({ operation: 'strip_metadata', to: null });
  return tasks.map(({ operation, to }) => [sample.name, operation, to, sample] as const);
}

async function work(name: string, { operation, to }: Task): Promise<EngineResult> {
  const file = await engine.process({
    path: join(import.meta.dirname, '../../api/data/samples', name),
    filename: name,
    operation,
    options: to === null ? {} : { convert: { to } },
  });
  return file.report.result;
}

describe('a published sample', () => {
  it.concurrent.each(valid.flatMap(tasksOf))(
    '%s is processed by %s %s',
    async (name, operation, to, sample) => {
      const result = await work(name, { operation, to });
      expect(result).toMatchObject({ kind: sample.kind, input_format: sample.format, original_size: sample.size });
      if (operation === 'compress') expect(result.savings_percent).toBeGreaterThanOrEqual(shown.has(sample) ? 10 : 0);
      if (operation === 'convert') expect(result.output_format).toBe(to);
    },
    TIMEOUT_MS,
  );

  it.concurrent.each(
    samples.flatMap(({ name, expected_error: error }) => (error === null ? [] : [[name, error] as const])),
  )(
    '%s is refused with %s',
    async (name, code) => {
      const kind = samples.find((sample) => sample.name === name)?.kind ?? 'image';
      const to = CONVERT_TARGETS[kind][0] ?? null;
      const task: Task = OPERATION_KINDS.compress.includes(kind)
        ? { operation: 'compress', to: null }
        : { operation: 'convert', to };
      await expect(work(name, task)).rejects.toMatchObject({ name: 'MediaError', code });
    },
    TIMEOUT_MS,
  );
});
