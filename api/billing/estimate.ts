/** The price of work before there is a file: fields → kind → units → price. Spec: Estimate. */
import { z } from 'zod';
import type { Account } from '#api/accounts/account.ts';
import { featuresOf } from '#api/accounts/features-of.ts';
import { estimateNotes } from '#api/billing/estimate-notes.ts';
import { expectedCodec, expectedFormat, expectedPicture, type ExpectedWork } from '#api/billing/expected-output.ts';
import { usdOf } from '#api/billing/usd.ts';
import {
  CONVERT_TARGETS,
  DIRECT_KINDS,
  FORMATS,
  formatOfName,
  KINDS,
  OPERATION_KINDS,
  OPERATIONS,
  targetsOf,
  type Format,
} from '#crds/formats.ts';
import { MediaError } from '#crds/media-error.ts';
import { parseJsonOptions, resolveOptions, type ResolvedOptions } from '#crds/options/options.ts';
import { PLANS } from '#crds/plans.ts';
import { METERS, PRICE_BOOK, priceOf, unitsOf, type Measured } from '#crds/prices.ts';

export const estimateRequestSchema = z
  .strictObject({
    operation: z.enum(OPERATIONS),
    filename: z.string().min(1).max(4096).meta({ description: 'Its extension decides the kind.' }),
    size: z.int().positive().meta({ description: 'Bytes.' }),
    duration_seconds: z
      .number()
      .positive()
      .max(Number.MAX_SAFE_INTEGER)
      .nullish()
      .meta({ description: 'Required for audio and video.' }),
    pages: z.int().positive().nullish().meta({ description: 'Of a PDF; not given: 100 or fewer.' }),
    width: z.int().positive().nullish().meta({ description: 'Pixels of a video; either one missing: 1920 by 1080.' }),
    height: z.int().positive().nullish(),
    options: z.looseObject({}).nullish().meta({ description: 'As in jobs; convert needs `convert.to`.' }),
  })
  .meta({ id: 'EstimateRequest' });
export type EstimateRequest = z.infer<typeof estimateRequestSchema>;

export const estimateSchema = z
  .object({
    object: z.literal('estimate'),
    operation: z.enum(OPERATIONS),
    kind: z.enum(KINDS),
    input_format: z.string(),
    output_format: z.string(),
    lane: z.enum(['direct', 'job']),
    meter: z.enum(METERS),
    quantity: z.number(),
    amount_usd: z.number(),
    notes: z.array(z.string()),
  })
  .meta({ id: 'Estimate' });
type Estimate = z.infer<typeof estimateSchema>;

/** Assumed when either side of a video is not given. */
const FULL_HD = { width: 1920, height: 1080 } as const;

/**
 * @param imagesThisMonth images that the account was billed for in this month: their price falls in tiers.
 * @throws MediaError bad_request, invalid_options, unsupported_input, unsupported_target
 */
export function estimate(
  fields: EstimateRequest,
  { account, imagesThisMonth }: { account: Account; imagesThisMonth: number },
): Estimate {
  const work = readWork(fields);
  const { meter, quantity } = unitsOf(PRICE_BOOK, measure(fields, work));
  const isDirect = DIRECT_KINDS.includes(work.kind) && fields.size <= PLANS[account.plan].maxSyncBytes;
  return {
    object: 'estimate',
    operation: fields.operation,
    kind: work.kind,
    input_format: work.inputFormat,
    output_format: expectedFormat(work),
    lane: isDirect ? 'direct' : 'job',
    meter,
    quantity,
    amount_usd: usdOf(priceOf(PRICE_BOOK, meter, quantity, imagesThisMonth)),
    notes: estimateNotes(work, { fields, plan: account.plan, features: featuresOf(account) }),
  };
}

/** Fields, then options, then what the operation does not apply to: the order of every other request. */
function readWork(fields: EstimateRequest): ExpectedWork {
  const { operation } = fields;
  const inputFormat = formatOfName(fields.filename);
  refuseMissingDuration(fields, inputFormat);
  const options = resolveOptions(parseJsonOptions(fields.options ?? {}), operation);
  if (operation === 'convert' && options.convert.to === null) {
    throw new MediaError('invalid_options', 'Convert needs a target format in `convert.to`.', { param: 'convert.to' });
  }
  if (inputFormat === null) throw unknownExtension();
  const work = { operation, kind: FORMATS[inputFormat].kind, inputFormat, options };
  refuseOperation(work);
  refuseTarget(work, options);
  return work;
}

function refuseMissingDuration({ duration_seconds: seconds }: EstimateRequest, format: Format | null): void {
  if (format === null || seconds != null) return;
  const { kind } = FORMATS[format];
  if (kind !== 'audio' && kind !== 'video') return;
  const message = `The price of ${kind} goes by its length: give \`duration_seconds\`.`;
  throw new MediaError('bad_request', message, { param: 'duration_seconds' });
}

function refuseOperation({ operation, kind, inputFormat }: ExpectedWork): void {
  const kinds = OPERATION_KINDS[operation];
  if (!kinds.includes(kind)) {
    const message = `${operation} does not apply to ${kind} files such as ${inputFormat}. It applies to ${kinds.join(', ')}.`;
    throw new MediaError('unsupported_input', message, { param: 'filename' });
  }
  if (FORMATS[inputFormat].raw !== true || operation === 'compress') return;
  const message = `${operation} does not apply to camera RAW files such as ${inputFormat}. Compress it instead.`;
  throw new MediaError('unsupported_input', message, { param: 'filename' });
}

function refuseTarget({ operation, kind }: ExpectedWork, { convert: { to } }: ResolvedOptions): void {
  if (operation !== 'convert' || to === null || CONVERT_TARGETS[kind].includes(to)) return;
  const message = `A ${kind} file does not convert to ${to}. ${targetsOf(kind)}`;
  throw new MediaError('unsupported_target', message, { param: 'convert.to' });
}

function unknownExtension(): MediaError {
  const message =
    'The extension of `filename` stands for no format that this service reads; GET /v1/capabilities lists them.';
  return new MediaError('unsupported_input', message, { param: 'filename' });
}

function measure(fields: EstimateRequest, work: ExpectedWork): Measured {
  const given =
    fields.width == null || fields.height == null ? FULL_HD : { width: fields.width, height: fields.height };
  return {
    operation: work.operation,
    kind: work.kind,
    pages: fields.pages ?? null,
    durationSeconds: fields.duration_seconds ?? null,
    ...expectedPicture(work, given),
    videoCodec: expectedCodec(work),
  };
}
