import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { largestCost } from '#api/billing/largest-cost.ts';
import { KINDS, OPERATION_KINDS, OPERATIONS, type Kind, type Operation } from '#crds/catalogue/formats.ts';
import { parseJsonOptions, resolveOptions } from '#crds/catalogue/options/options.ts';
import { fileLimits, PLAN_NAMES, type PlanName } from '#crds/catalogue/plans.ts';
import { PRICE_BOOK, priceOf, unitsOf } from '#crds/catalogue/prices.ts';

const EVERY_FEATURE = { video: true, heicOutput: true };
const costOf = (operation: Operation, kind: Kind | null, sent: object = {}, plan: PlanName = 'payg'): number =>
  largestCost({
    lane: 'job',
    operation,
    kinds: kind === null ? KINDS : [kind],
    options: resolveOptions(parseJsonOptions(sent)),
    limits: fileLimits(plan),
    features: EVERY_FEATURE,
  });

describe('largestCost', () => {
  it.each<[string, Operation, Kind | null, object, PlanName, number]>([
    ['one image at the first price', 'compress', 'image', {}, 'payg', 2000],
    ['a stripped PDF as one image', 'strip_metadata', 'pdf', {}, 'payg', 2000],
    ['a rendered page as one image', 'convert', 'pdf', { convert: { to: 'png' } }, 'payg', 2000],
    ['a PDF by the plan’s pages', 'compress', 'pdf', {}, 'payg', 10 * 10_000],
    ['a PDF by a larger plan’s pages', 'compress', 'pdf', {}, 'starter', 20 * 10_000],
    ['audio by the plan’s length', 'compress', 'audio', {}, 'starter', 60 * 2000],
    ['an office document', 'convert', 'word', { convert: { to: 'pdf' } }, 'payg', 10_000],
    ['a table', 'convert', 'table', { convert: { to: 'csv' } }, 'payg', 1000],
    ['video at any size, h265', 'compress', 'video', {}, 'payg', 10 * 56 * 1.5 * 1000],
    ['video with h264', 'compress', 'video', { video: { codec: 'h264' } }, 'payg', 10 * 56 * 1000],
    ['video with vp9', 'compress', 'video', { video: { format: 'webm' } }, 'payg', 10 * 56 * 2 * 1000],
    ['video at 854, perhaps square', 'compress', 'video', { video: { resolution: 854 } }, 'payg', 10 * 7 * 1.5 * 1000],
    ['video by the plan’s length', 'compress', 'video', {}, 'growth', 180 * 56 * 1.5 * 1000],
    [
      'a copied stream of the dearest codec',
      'convert',
      'video',
      { convert: { to: 'mkv' } },
      'payg',
      10 * 56 * 2 * 1000,
    ],
    ['an unknown kind as the dearest one', 'compress', null, {}, 'payg', 10 * 56 * 1.5 * 1000],
    ['an unknown kind as one that has the target', 'convert', null, { convert: { to: 'docx' } }, 'payg', 10_000],
  ])('returns the price of %s', (_what, operation, kind, sent, plan, microUsd) => {
    expect(costOf(operation, kind, sent, plan)).toBe(microUsd);
  });

  it.each<[string, 'direct' | 'job', readonly Kind[], boolean, number]>([
    ['that is an image', 'direct', ['image'], true, 2000],
    ['that is audio or video, which runs as a job only', 'direct', ['video', 'audio'], true, 10 * 2000],
    ['of any kind as the dearest one of the direct lane', 'direct', KINDS, true, 10 * 10_000],
    ['of a kind that compress refuses as the dearest one', 'direct', ['word', 'sheet'], true, 10 * 10_000],
    ['of any kind as the dearest one of all as a job', 'job', KINDS, true, 10 * 56 * 1.5 * 1000],
    ['that is audio or video, which is not enabled for the account', 'job', ['video', 'audio'], false, 10 * 2000],
  ])('returns the price of a file %s', (_what, lane, kinds, video, microUsd) => {
    const options = resolveOptions(parseJsonOptions({}));
    const features = { video, heicOutput: false };
    const work = { lane, operation: 'compress', kinds, options, limits: fileLimits('payg'), features } as const;
    expect(largestCost(work)).toBe(microUsd);
  });

  it('returns at least the price of every file within the limits', () => {
    const work = fc.record({
      plan: fc.constantFrom(...PLAN_NAMES),
      operation: fc.constantFrom(...OPERATIONS),
      kindIndex: fc.nat(8),
      size: fc.record({
        pages: fc.double({ min: 0, max: 1, noNaN: true }),
        seconds: fc.double({ min: 0, max: 1, noNaN: true }),
      }),
      side: fc.constantFrom('original' as const, 3840 as const, 1920 as const, 1280 as const, 854 as const),
      shape: fc.double({ min: 0.1, max: 1, noNaN: true }),
      codec: fc.constantFrom('h264', 'h265', 'vp9'),
    });
    fc.assert(
      fc.property(work, ({ plan, operation, kindIndex, size, side, shape, codec }) => {
        const kinds = OPERATION_KINDS[operation];
        const kind = kinds[kindIndex % kinds.length] as Kind;
        const limits = fileLimits(plan);
        const options = resolveOptions(
          parseJsonOptions({ video: { resolution: side, format: codec === 'vp9' ? 'webm' : 'mp4', codec } }),
        );
        const long = operation === 'compress' && side !== 'original' ? side : Math.sqrt(limits.maxPixels);
        const { meter, quantity } = unitsOf(PRICE_BOOK, {
          operation,
          kind,
          pages: Math.ceil(size.pages * limits.maxPages),
          durationSeconds: size.seconds * limits.maxSeconds,
          width: Math.floor(long),
          height: Math.floor(long * shape),
          videoCodec: codec,
        });
        const work = { lane: 'job', operation, kinds: [kind], options, limits, features: EVERY_FEATURE } as const;
        expect(largestCost(work)).toBeGreaterThanOrEqual(priceOf(PRICE_BOOK, meter, quantity, 0));
      }),
    );
  });
});
