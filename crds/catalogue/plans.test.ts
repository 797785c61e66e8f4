import { expect, it } from 'vitest';
import { fileLimits, LIMITS, PLAN_NAMES, PLANS } from '#crds/catalogue/plans.ts';

// Promise, Limits and versions: Length, pixels, pages and frames of the plan
it.each(PLAN_NAMES)('fileLimits returns the limits of one file of the plan %s', (name) => {
  const { maxPixels, maxPdfPages, maxMediaSeconds } = PLANS[name];
  expect(fileLimits(name)).toEqual({
    maxPixels,
    maxPages: maxPdfPages,
    maxSeconds: maxMediaSeconds,
    maxFrames: LIMITS.animationFrames,
  });
});
