import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TERMINATION_BYTES } from '#crds/contract/run-files.ts';
import { runOutcomeSchema, type RunOutcome } from '#crds/contract/run-spec.ts';
import { outcomeText, writeOutcome } from '#worker-image/transfer/write-outcome.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'outcome-'));
});
afterEach(() => rm(directory, { recursive: true }));

describe('outcomeText', () => {
  it('does not change an outcome that fits', () => {
    expect(JSON.parse(outcomeText(succeeded(['one', 'two'])))).toEqual(succeeded(['one', 'two']));
  });

  it('drops the last warnings of an outcome until it fits', () => {
    const warnings = Array.from({ length: 10 }, (_, index) => `${index} ${'ä'.repeat(400)}`);
    const text = outcomeText(succeeded(warnings));
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(TERMINATION_BYTES);
    const outcome = runOutcomeSchema.parse(JSON.parse(text));
    const left = outcome.outcome === 'succeeded' ? outcome.report.result.warnings : [];
    expect(left).toEqual(warnings.slice(0, left.length));
    expect(left.length).toBeGreaterThan(2);
  });

  it('shortens a message that is too long', () => {
    const text = outcomeText({ outcome: 'failed', error: { code: 'processing_failed', message: '文'.repeat(5000) } });
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(TERMINATION_BYTES);
    expect(runOutcomeSchema.parse(JSON.parse(text))).toMatchObject({ error: { code: 'processing_failed' } });
  });

  it('throws when a result does not fit without warnings and tools', () => {
    const outcome = succeeded(['one']);
    if (outcome.outcome !== 'succeeded') throw new Error('not a result');
    const result = { ...outcome.report.result, video_codec: 'x'.repeat(TERMINATION_BYTES) };
    expect(() => outcomeText({ ...outcome, report: { ...outcome.report, result } })).toThrow('too long');
  });
});

describe('writeOutcome', () => {
  it('writes one complete file and leaves no other', async () => {
    await writeOutcome(join(directory, 'termination'), succeeded([]));
    expect(await readdir(directory)).toEqual(['termination']);
    expect(JSON.parse(await readFile(join(directory, 'termination'), 'utf8'))).toEqual(succeeded([]));
  });
});

function succeeded(warnings: string[]): RunOutcome {
  return {
    outcome: 'succeeded',
    report: {
      result: {
        kind: 'image',
        input_format: 'jpg',
        output_format: 'jpg',
        original_size: 2,
        output_size: 1,
        savings_percent: 50,
        kept_original: false,
        increased: false,
        width: 1,
        height: 1,
        pages: null,
        duration_seconds: null,
        video_codec: null,
        warnings,
      },
      inputSha256: 'a'.repeat(64),
      outputSha256: 'b'.repeat(64),
      tools: { sharp: '1' },
    },
  };
}
