import { describe, expect, it } from 'vitest';
import { FORMATS, type Format } from '#crds/catalogue/formats.ts';
import { fileLimits, type PlanName } from '#crds/catalogue/plans.ts';
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

  // Promise, Bad input, case by case: Pixels, frames, pages, durations
  // Promise, Limits and versions: Length, pixels, pages and frames of the plan
  it.each<[PlanName, { megapixels: number; pages: number; minutes: number }]>([
    ['none', { megapixels: 50, pages: 200, minutes: 1 }],
    ['payg', { megapixels: 100, pages: 1000, minutes: 10 }],
    ['starter', { megapixels: 100, pages: 2000, minutes: 60 }],
    ['growth', { megapixels: 100, pages: 2000, minutes: 180 }],
    ['scale', { megapixels: 100, pages: 2000, minutes: 180 }],
    ['enterprise', { megapixels: 100, pages: 2000, minutes: 180 }],
  ])('accepts files at the limits of the plan %s and refuses larger ones', (plan, { megapixels, pages, minutes }) => {
    const check = (format: Format, facts: Partial<Facts>) => (): void =>
      refuseOverLimits(identified(format), facts, fileLimits(plan));
    const [width, height, seconds] = [10_000, megapixels * 100, minutes * 60];
    const overLimit = expect.objectContaining({ code: 'limit_exceeded' });
    expect(check('jpg', { width, height })).not.toThrow();
    expect(check('jpg', { width, height: height + 1 })).toThrow(overLimit);
    expect(check('mp4', { width, height: height + 1 })).toThrow(overLimit);
    expect(check('gif', { frames: 2000 })).not.toThrow();
    expect(check('gif', { frames: 2001 })).toThrow(overLimit);
    expect(check('pdf', { pages })).not.toThrow();
    expect(check('pdf', { pages: pages + 1 })).toThrow(overLimit);
    expect(check('mp3', { durationSeconds: seconds })).not.toThrow();
    expect(check('mp3', { durationSeconds: seconds + 1 })).toThrow(overLimit);
  });

  // Promise, Settled where the interface leaves it open: Many large frames are legal: the time limit ends them
  it('accepts as many frames as allowed of as many pixels as allowed', () => {
    const facts = { width: 10_000, height: 10_000, frames: 2000 };
    expect(() => refuseOverLimits(identified('webp'), facts, fileLimits('growth'))).not.toThrow();
  });
});

function identified(format: Format): Identified {
  return { kind: FORMATS[format].kind, format, warning: null };
}
