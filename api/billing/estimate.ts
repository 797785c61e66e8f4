/** Price of work without a file: fields → kind → units → price. See docs/reference/estimate-and-usage.md#estimate. */
import { z } from 'zod';
import { featuresOf } from '#api/accounts/features-of.ts';
import type { AccountCaller } from '#api/accounts/find-caller.ts';
import { maxDirectBytes } from '#api/accounts/max-direct-bytes.ts';
import { utcMonth } from '#api/billing/calendar.ts';
import { estimateNotes } from '#api/billing/estimate-notes.ts';
import { expectedCodec, expectedFrameSize, type ExpectedWork } from '#api/billing/expected-output.ts';
import { selectImagesOfMonth } from '#api/billing/ledger-rows.ts';
import { usdOf } from '#api/billing/usd.ts';
import type { Dependencies } from '#api/dependencies.ts';
import { fileSize } from '#api/files/file-size.ts';
import { DIRECT_KINDS, FORMATS, formatOfName, KINDS, OPERATIONS, type Format } from '#crds/catalogue/formats.ts';
import { MediaError, throwIfRefused } from '#crds/contract/media-error.ts';
import { outputFormatOf, refusalOf, type KnownFile } from '#crds/contract/work-rules.ts';
import { parseJsonOptions, resolveOptions } from '#crds/catalogue/options/options.ts';
import { METERS, PRICE_BOOK, priceOf, unitsOf, type MeasuredWork } from '#crds/catalogue/prices.ts';

export const estimateRequestSchema = z
  .strictObject({
    operation: z.enum(OPERATIONS).meta({ description: 'What would be done with the file.' }),
    filename: z.string().min(1).max(4096).meta({ description: 'The extension determines the kind of file.' }),
    size: fileSize,
    duration_seconds: z
      .number()
      .positive()
      .max(Number.MAX_SAFE_INTEGER)
      .nullish()
      .meta({ description: 'Required for audio and video.' }),
    pages: z.int().positive().nullish().meta({ description: 'Pages of a PDF. Default: 100 or fewer.' }),
    width: z
      .int()
      .positive()
      .nullish()
      .meta({ description: 'Width of a video in pixels. Without width and height, 1920 by 1080 is assumed.' }),
    height: z.int().positive().nullish().meta({ description: 'Height of a video in pixels.' }),
    options: z.looseObject({}).nullish().meta({ description: 'Options as in jobs; `convert` requires `convert.to`.' }),
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

/** Size that is assumed when either side of a video is missing, in pixels. */
const FULL_HD = { width: 1920, height: 1080 } as const;

/**
 * Returns the estimate of a request. The price of an image depends on the images that the account was billed for in
 * this month.
 * @throws MediaError bad_request, invalid_options, unsupported_input, unsupported_target
 */
export async function estimate(
  { database, clock }: Pick<Dependencies, 'database' | 'clock'>,
  { caller, input: fields }: { caller: Pick<AccountCaller, 'account' | 'livemode'>; input: EstimateRequest },
): Promise<Estimate> {
  const { account } = caller;
  const month = { accountId: account.id, month: utcMonth(clock.now()) };
  const imagesThisMonth = await selectImagesOfMonth(database, month);
  const work = readWork(fields);
  const { meter, quantity } = unitsOf(PRICE_BOOK, measure(fields, work));
  const isDirect = DIRECT_KINDS.includes(work.kind) && fields.size <= maxDirectBytes(caller);
  return {
    object: 'estimate',
    operation: fields.operation,
    kind: work.kind,
    input_format: work.inputFormat,
    output_format: outputFormatOf(work, work.inputFormat),
    lane: isDirect ? 'direct' : 'job',
    meter,
    quantity,
    amount_usd: usdOf(priceOf(PRICE_BOOK, meter, quantity, imagesThisMonth)),
    notes: estimateNotes(work, { fields, plan: account.plan, features: featuresOf(account) }),
  };
}

/** Parses the work. Checks fields, then options, then format and operation, in the order of every other request. */
function readWork(fields: EstimateRequest): ExpectedWork {
  const { operation } = fields;
  const inputFormat = formatOfName(fields.filename);
  refuseMissingDuration(fields, inputFormat);
  const options = resolveOptions(parseJsonOptions(fields.options ?? {}), operation);
  refuse({ operation, options }, { by: 'nothing' });
  if (inputFormat === null) throw unknownExtension(fields.filename);
  refuse({ operation, options }, { by: 'content', format: inputFormat });
  return { operation, kind: FORMATS[inputFormat].kind, inputFormat, options };
}

function refuseMissingDuration({ duration_seconds: seconds }: EstimateRequest, format: Format | null): void {
  if (format === null || seconds != null) return;
  const { kind } = FORMATS[format];
  if (kind !== 'audio' && kind !== 'video') return;
  const message = `The price of ${kind} depends on its duration: add \`duration_seconds\`.`;
  throw new MediaError('bad_request', message, { param: 'duration_seconds' });
}

/** Features of the checks: an estimate mentions a missing feature in a note and does not refuse. */
const EVERY_FEATURE = { video: true, heicOutput: true };

function refuse(order: Pick<ExpectedWork, 'operation' | 'options'>, file: KnownFile): void {
  const refusal = refusalOf({ ...order, features: EVERY_FEATURE }, file, 'job');
  if (refusal?.code === 'unsupported_input')
    throw new MediaError('unsupported_input', refusal.message, { param: 'filename' });
  throwIfRefused(refusal);
}

function unknownExtension(filename: string): MediaError {
  const extension = /\.[^./\\]{1,20}$/.exec(filename)?.[0];
  const problem = extension === undefined ? 'no extension' : `the extension \`${extension}\`, of no supported format`;
  const message = `\`filename\` has ${problem}. GET /v1/capabilities lists the formats.`;
  return new MediaError('unsupported_input', message, { param: 'filename' });
}

function measure(fields: EstimateRequest, work: ExpectedWork): MeasuredWork {
  const frameSize =
    fields.width == null || fields.height == null ? FULL_HD : { width: fields.width, height: fields.height };
  return {
    operation: work.operation,
    kind: work.kind,
    pages: fields.pages ?? null,
    durationSeconds: fields.duration_seconds ?? null,
    ...expectedFrameSize(work, frameSize),
    videoCodec: expectedCodec(work),
  };
}
