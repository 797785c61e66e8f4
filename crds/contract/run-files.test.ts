import { describe, expect, it } from 'vitest';
import { joinRunSpec } from '#crds/contract/run-files.ts';

describe('joinRunSpec', () => {
  it('merges the fields of two levels', () => {
    const parts = [
      { jobId: 'job_1', input: { size: 5 } },
      { input: { url: 'a' }, output: { url: 'b' } },
    ];
    expect(joinRunSpec(parts)).toEqual({ jobId: 'job_1', input: { size: 5, url: 'a' }, output: { url: 'b' } });
  });

  it('replaces lists and simple values', () => {
    expect(
      joinRunSpec([
        { list: [1], text: 'a', none: { x: 1 } },
        { list: [2], text: 'b', none: null },
      ]),
    ).toEqual({
      list: [2],
      text: 'b',
      none: null,
    });
  });
});
