import { dependsOnPixels, type ExpectedWork } from '#api/billing/expected-output.ts';
import type { Features } from '#crds/contract/work-order.ts';
import { outputFormatOf } from '#crds/contract/work-rules.ts';
import { PLANS, type PlanName } from '#crds/catalogue/plans.ts';

interface EstimateContext {
  readonly fields: {
    readonly size: number;
    readonly pages?: number | null | undefined;
    readonly width?: number | null | undefined;
    readonly height?: number | null | undefined;
  };
  readonly plan: PlanName;
  readonly features: Features;
}

/** Assumptions and warnings of an estimate, in order: docs/reference/estimate-and-usage.md#notes. */
const NOTES: readonly ((work: ExpectedWork, context: EstimateContext) => string | null)[] = [
  ({ kind }, { fields: { width, height } }) =>
    kind === 'video' && (width == null || height == null)
      ? 'Width and height were not given: 1920x1080 is assumed.'
      : null,
  ({ kind, operation }, { fields }) =>
    kind === 'pdf' && operation === 'compress' && fields.pages == null
      ? 'The number of pages was not given: 100 pages or fewer are assumed.'
      : null,
  (work) =>
    dependsOnPixels(work)
      ? 'An image with transparency, a palette or 1 bit per pixel is converted to png instead of jpg.'
      : null,
  ({ kind, operation }) =>
    kind === 'video' && operation === 'convert'
      ? 'A video stream that the target format accepts is copied: the price then depends on its own codec.'
      : null,
  ({ kind }, { features }) =>
    kind === 'video' && !features.video ? 'Video is in limited preview and not enabled for this account.' : null,
  (work, { features }) =>
    work.operation !== 'strip_metadata' && outputFormatOf(work, work.inputFormat) === 'heic' && !features.heicOutput
      ? 'HEIC output is in limited preview and not enabled for this account.'
      : null,
  (_work, { fields: { size }, plan }) => tooLarge(size, plan),
  ({ operation }) =>
    operation === 'compress' ? 'A file that cannot be made smaller is returned unchanged and free of charge.' : null,
];

export function estimateNotes(work: ExpectedWork, context: EstimateContext): string[] {
  return NOTES.map((note) => note(work, context)).filter((note) => note !== null);
}

function tooLarge(size: number, plan: PlanName): string | null {
  const limit = PLANS[plan].maxAsyncBytes;
  return size > limit
    ? `The file is larger than the plan allows: it has ${size} bytes, the plan ${plan} allows ${limit}.`
    : null;
}
