/** The refusals between finding out what a file is and working on it: two ordered lists of checks. */
import {
  CONVERT_TARGETS,
  DIRECT_KINDS,
  FORMATS,
  OPERATION_KINDS,
  targetsOf,
  type Format,
  type Operation,
} from '#crds/formats.ts';
import { MediaError } from '#crds/media-error.ts';
import type { Features } from '#crds/media-job.ts';
import type { ResolvedOptions } from '#crds/options/options.ts';
import type { FileLimits } from '#crds/plans.ts';
import type { Facts, Identified } from '#worker-image/engine/handler.ts';

/** The way that a file came: in a request that waits for the result, or as a job. */
export type Lane = 'direct' | 'job';

export interface Asked {
  readonly operation: Operation;
  readonly options: ResolvedOptions;
  readonly features: Features;
  readonly lane: Lane;
}

interface Check {
  readonly rule: string;
  /** null when the file passes. */
  readonly refusal: (asked: Asked, input: Identified) => MediaError | null;
}

const BEFORE_OPENING: readonly Check[] = [
  { rule: 'Video and office documents run as jobs only.', refusal: refuseLane },
  { rule: 'The operation applies to the kind; camera RAW is compressed only.', refusal: refuseOperation },
  { rule: 'Video needs its feature.', refusal: refuseVideo },
  { rule: 'Writing HEIC needs its feature; removing metadata from HEIC does not.', refusal: refuseHeicOutput },
  { rule: 'A conversion names a target of the kind.', refusal: refuseTarget },
];

interface LimitCheck {
  readonly what: string;
  readonly value: (facts: Facts) => number | null;
  readonly limit: (limits: FileLimits) => number;
  readonly remedy: string;
}

const LIMITS: readonly LimitCheck[] = [
  {
    what: 'pixels (width times height)',
    value: ({ width, height }) => (width === null || height === null ? null : width * height),
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

/** Throws the first refusal of what is asked of a file of this type. */
export function refuseBeforeOpening(asked: Asked, input: Identified): void {
  for (const { refusal } of BEFORE_OPENING) {
    const refused = refusal(asked, input);
    if (refused !== null) throw refused;
  }
}

/** Throws limit_exceeded with value and limit. Spec: Limits by plan; Limits independent of plan. */
export function refuseOverLimits(input: Identified, facts: Facts, limits: FileLimits): void {
  for (const { what, value, limit, remedy } of LIMITS) {
    const measured = value(facts);
    if (measured === null || measured <= limit(limits)) continue;
    throw new MediaError(
      'limit_exceeded',
      `The ${input.format} file has ${Math.round(measured * 10) / 10} ${what}; at most ${limit(limits)} are allowed. ${remedy}`,
    );
  }
}

function refuseLane({ lane }: Asked, { kind, format }: Identified): MediaError | null {
  if (lane === 'job' || DIRECT_KINDS.includes(kind)) return null;
  return new MediaError(
    'use_async_job',
    `The file is ${format}; ${kind} files are handled by jobs only. Create a job with POST /v1/jobs.`,
  );
}

function refuseOperation({ operation }: Asked, { kind, format }: Identified): MediaError | null {
  const kinds = OPERATION_KINDS[operation];
  if (!kinds.includes(kind)) {
    return new MediaError(
      'unsupported_input',
      `${operation} does not apply to ${kind} files such as this ${format}. It applies to ${kinds.join(', ')}.`,
    );
  }
  if (isRaw(format) && operation !== 'compress') {
    return new MediaError(
      'unsupported_input',
      `${operation} does not apply to camera RAW files such as this ${format}. Compress it instead.`,
    );
  }
  return null;
}

function refuseVideo({ features, lane }: Asked, { kind }: Identified): MediaError | null {
  if (lane === 'direct' || kind !== 'video' || features.video) return null;
  return new MediaError('feature_not_enabled', 'Video is in limited preview and not enabled for this account.');
}

function refuseHeicOutput(asked: Asked, input: Identified): MediaError | null {
  if (asked.features.heicOutput || !writesHeic(asked, input)) return null;
  return new MediaError(
    'feature_not_enabled',
    'HEIC output is in limited preview and not enabled for this account. Ask for another format, such as jpg or avif.',
    { param: asked.operation === 'convert' ? 'convert.to' : 'image.format' },
  );
}

function writesHeic({ operation, options }: Asked, { kind, format }: Identified): boolean {
  if (operation === 'convert') return options.convert.to === 'heic';
  if (operation === 'strip_metadata' || kind !== 'image') return false;
  return options.image.format === 'heic' || (options.image.format === 'original' && format === 'heic');
}

function refuseTarget({ operation, options }: Asked, { kind }: Identified): MediaError | null {
  if (operation !== 'convert') return null;
  const targets = CONVERT_TARGETS[kind];
  const { to } = options.convert;
  if (to === null) {
    return new MediaError('invalid_options', `A conversion needs \`convert.to\`. ${targetsOf(kind)}`, {
      param: 'convert.to',
    });
  }
  if (targets.includes(to)) return null;
  return new MediaError('unsupported_target', `A ${kind} file does not convert to ${to}. ${targetsOf(kind)}`, {
    param: 'convert.to',
  });
}

function isRaw(format: Format): boolean {
  return FORMATS[format].raw === true;
}
