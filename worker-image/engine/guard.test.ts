import { describe, expect, it } from 'vitest';
import { FORMATS, type Format } from '#crds/catalogue/formats.ts';
import { resolveOptions } from '#crds/catalogue/options/options.ts';
import { refuseBeforeOpening, refuseOverLimits } from '#worker-image/engine/guard.ts';
import type { Facts, Identified } from '#worker-image/engine/handler.ts';

const LIMITS = { maxPixels: 100, maxFrames: 20, maxPages: 30, maxSeconds: 40 };

describe('refuseBeforeOpening', () => {
  const options = resolveOptions(new Map());
  const task = { operation: 'compress', options, features: { video: false, heicOutput: false }, lane: 'job' } as const;

  it('throws the refusal of an operation that does not apply to the content', () => {
    expect(() => refuseBeforeOpening(task, identified('ttf'))).toThrow(
      expect.objectContaining({ code: 'unsupported_input' }),
    );
  });

  it('accepts an operation that applies to the content', () => {
    expect(() => refuseBeforeOpening(task, identified('jpg'))).not.toThrow();
  });
});

describe('refuseOverLimits', () => {
  // Promise, Bad input, case by case: Pixels, frames, pages, durations
  // Promise, Limits and versions: Length, pixels, pages and frames of the plan
  // Promise, Direct endpoints: Unsupported_input, use_async_job, encrypted_pdf, processing_failed, limit_exceeded with value and limit
  it.each<[Partial<Facts>, string | null]>([
    [{ width: 10, height: 10 }, null],
    [{ width: 101, height: 1 }, '101 pixels (width times height); at most 100'],
    [{ frames: 21 }, '21 frames; at most 20'],
    [{ pages: 31 }, '31 pages; at most 30'],
    [{ durationSeconds: 40.24 }, '40.2 seconds; at most 40'],
    [{ durationSeconds: 40 }, null],
  ])('compares %j with the limits', (facts, words) => {
    const check = (): void => refuseOverLimits(identified('jpg'), facts, LIMITS);
    if (words === null) expect(check).not.toThrow();
    else expect(check).toThrow(words);
  });
});

function identified(format: Format): Identified {
  return { kind: FORMATS[format].kind, format, warning: null };
}
