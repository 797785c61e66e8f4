import { describe, expect, it } from 'vitest';
import { findContradiction, type KnownWork } from '#crds/contract/find-contradiction.ts';
import type { EngineResult } from '#crds/contract/result.ts';
import { buildReport, buildSpec } from '#test/support/build-media-job.ts';

const { operation, options, limits } = buildSpec();
const VIDEO: KnownWork = { operation, options, limits, inputSize: 1000, outputSize: 600 };
const PDF: Partial<EngineResult> = {
  kind: 'pdf',
  input_format: 'pdf',
  output_format: 'pdf',
  pages: 3,
  duration_seconds: null,
  video_codec: null,
};

function find(changes: Partial<EngineResult> = {}, known: Partial<KnownWork> = {}): string | null {
  return findContradiction({ result: { ...buildReport().result, ...changes } }, { ...VIDEO, ...known });
}

describe('findContradiction', () => {
  it('returns null for a consistent report', () => {
    expect(find()).toBeNull();
    expect(find(PDF)).toBeNull();
    expect(find({}, { inputSize: null, outputSize: null })).toBeNull();
  });

  it.each<[string, Partial<EngineResult>, Partial<KnownWork>]>([
    ['The kind is that of the input format.', { kind: 'audio' }, {}],
    ['The operation applies to the kind.', {}, { operation: 'strip_metadata' }],
    ['The output has a requested format.', { output_format: 'webm' }, {}],
    ['The output has a requested format.', { output_format: 'pdf' }, {}],
    ['The output has a requested format.', {}, { operation: 'convert' }],
    ['The size of the input is the stored one.', {}, { inputSize: 999 }],
    ['The size of the output is the received one.', {}, { outputSize: 601 }],
    ['The savings follow from the sizes.', { savings_percent: 41 }, {}],
    ['The savings follow from the sizes.', { increased: true }, {}],
    ['A kept original has the size and format of the input.', { kept_original: true }, {}],
    ['Only a PDF has pages, within the limit.', { pages: 1 }, {}],
    ['Only a PDF has pages, within the limit.', { ...PDF, pages: null }, {}],
    ['Only a PDF has pages, within the limit.', { ...PDF, pages: limits.maxPages + 1 }, {}],
    ['Only audio and video have a duration, within the limit.', { ...PDF, duration_seconds: 1 }, {}],
    ['Only audio and video have a duration, within the limit.', { duration_seconds: limits.maxSeconds + 1 }, {}],
    ['Only video has a video codec.', { ...PDF, video_codec: 'h265' }, {}],
  ])('returns "%s" for %j of %j', (rule, changes, known) => {
    expect(find(changes, known)).toBe(rule);
  });

  it('accepts the requested format of a conversion only', () => {
    const convert = { operation, options: { ...options, convert: { ...options.convert, to: 'webm' as const } } };
    const known = { ...convert, operation: 'convert' as const };
    expect(find({ output_format: 'webm' }, known)).toBeNull();
    expect(find({ output_format: 'mkv' }, known)).toBe('The output has a requested format.');
  });
});
