import type { Feature } from '#crds/catalogue/plans.ts';

/** Labels of the features of an account. */
export const FEATURE_LABELS: Readonly<Record<Feature, string>> = { video: 'Video', heic_output: 'HEIC output' };
