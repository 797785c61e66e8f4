import { describe, expect, it } from 'vitest';
import { resultFigures } from '#api/dashboard/result-figures.ts';
import { buildReport } from '#test/support/job-builder.ts';

const { result } = buildReport();
const read = (...[changes, charge]: [Partial<typeof result>, Parameters<typeof resultFigures>[1]]): string =>
  resultFigures({ ...result, ...changes }, charge).markup;

describe('the figures of a result', () => {
  it('are its savings, sizes and formats', () => {
    const figures = read({ width: 640, height: 480 }, undefined);
    for (const text of ['60 %', '400 bytes', 'from 1,000 bytes', 'from jpg, 640 × 480 pixels'])
      expect(figures).toContain(text);
    expect(figures).not.toContain('Price');
  });

  it('say that the original was kept', () => {
    expect(read({ kept_original: true, savings_percent: 0 }, undefined)).toContain('it could not be made smaller');
  });

  it('have pages, duration and codec where the kind has them', () => {
    const none = { width: null, height: null };
    expect(read({ ...none, pages: 1 }, undefined)).toContain('from jpg, 1 page');
    expect(read({ ...none, duration_seconds: 61, video_codec: 'h265' }, undefined)).toMatch(/from jpg, .+, h265/);
  });

  it('have the price, or say that nothing was billed', () => {
    const charge = { meter: 'audio_minutes', quantity: 3, amountMicroUsd: 30_000 } as const;
    expect(read({}, charge)).toContain('audio minutes: 3');
    expect(read({}, null)).toContain('not billed');
  });

  it('list the warnings', () => {
    expect(read({ warnings: ['The <b> was dropped.'] }, undefined)).toContain('<li>The &lt;b&gt; was dropped.</li>');
    expect(read({ warnings: [] }, undefined)).not.toContain('notice');
  });
});
