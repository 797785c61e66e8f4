/** Refusals between identification and processing of a file. */
import { MediaError } from '#crds/contract/media-error.ts';
import type { WorkOrder } from '#crds/contract/work-order.ts';
import { refusalOf, type Lane } from '#crds/contract/work-rules.ts';
import type { FileLimits } from '#crds/catalogue/plans.ts';
import type { Facts, Identified } from '#worker-image/engine/handler.ts';

interface LimitCheck {
  readonly what: string;
  readonly value: (facts: Facts) => number | undefined;
  readonly limit: (limits: FileLimits) => number;
  readonly remedy: string;
}

const LIMITS: readonly LimitCheck[] = [
  {
    what: 'pixels (width times height)',
    value: ({ width, height }) => (width === undefined || height === undefined ? undefined : width * height),
    limit: ({ maxPixels }) => maxPixels,
    remedy: 'Send it with fewer pixels.',
  },
  { what: 'frames', value: ({ frames }) => frames, limit: ({ maxFrames }) => maxFrames, remedy: 'Send fewer frames.' },
  {
    what: 'pages',
    value: ({ pages }) => pages,
    limit: ({ maxPages }) => maxPages,
    remedy: 'Split it and send the parts.',
  },
  {
    what: 'seconds',
    value: ({ durationSeconds }) => durationSeconds,
    limit: ({ maxSeconds }) => maxSeconds,
    remedy: 'Send a shorter part.',
  },
];

/** Checks operation, options and features against the type of a file. @throws MediaError the first refusal. */
export function refuseBeforeOpening(
  task: Pick<WorkOrder, 'operation' | 'options' | 'features'> & { readonly lane: Lane },
  { format }: Identified,
): void {
  const refusal = refusalOf(task, { by: 'content', format }, task.lane);
  if (refusal !== null) throw refusal;
}

/**
 * Compares the facts of a file with the limits of its account. See docs/reference/limits-and-prices.md.
 * @throws MediaError limit_exceeded with value and limit.
 */
export function refuseOverLimits(input: Identified, facts: Facts, limits: FileLimits): void {
  for (const { what, value, limit, remedy } of LIMITS) {
    const measured = value(facts);
    if (measured === undefined || measured <= limit(limits)) continue;
    throw new MediaError(
      'limit_exceeded',
      `The ${input.format} file has ${Math.round(measured * 10) / 10} ${what}; at most ${limit(limits)} are allowed. ${remedy}`,
    );
  }
}
