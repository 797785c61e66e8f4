import type { Feature } from '#crds/plans.ts';

/** Features of an account as people call them. */
export const FEATURE_WORDS: Readonly<Record<Feature, string>> = { video: 'video', heic_output: 'HEIC output' };
