/** Ordered rules of valid work orders, for every process that admits, prices or executes work. */
import {
  CONVERT_TARGETS,
  DIRECT_KINDS,
  FORMATS,
  inputFormatsOf,
  isRaw,
  OPERATION_KINDS,
  targetsOf,
  type Format,
  type Kind,
} from '#crds/catalogue/formats.ts';
import { MediaError } from '#crds/contract/media-error.ts';
import { withArticle } from '#crds/contract/refusal-words.ts';
import type { WorkOrder } from '#crds/contract/work-order.ts';

/** Lane of the work: a direct request, which waits for the result, or a job. */
export type Lane = 'direct' | 'job';

/** Known facts of a file: none, its name, or its content. A name is no proof; its `format` is null when unknown. */
export type KnownFile =
  | { readonly by: 'nothing' }
  | { readonly by: 'name'; readonly format: Format | null }
  | { readonly by: 'content'; readonly format: Format };

type RuledOrder = Pick<WorkOrder, 'operation' | 'options' | 'features'>;

type WorkRule = { readonly rule: string } & (
  | { readonly needs: 'order'; readonly refusal: (order: RuledOrder) => MediaError | null }
  | { readonly needs: 'name'; readonly refusal: (order: RuledOrder, file: NamedFile) => MediaError | null }
  | {
      readonly needs: 'content';
      readonly refusal: (order: RuledOrder, file: KindAndFormat, lane: Lane) => MediaError | null;
    }
);
type NamedFile = Exclude<KnownFile, { readonly by: 'nothing' }>;
interface KindAndFormat {
  readonly kind: Kind;
  readonly format: Format;
}

const RULES: readonly WorkRule[] = [
  { rule: 'Video and office documents run as jobs only.', needs: 'content', refusal: refuseLane },
  { rule: 'The operation applies to the kind.', needs: 'content', refusal: refuseOperation },
  { rule: 'Camera RAW can only be compressed.', needs: 'content', refusal: refuseCameraRaw },
  { rule: 'Video requires the feature.', needs: 'content', refusal: refuseVideo },
  { rule: 'A conversion has a target.', needs: 'order', refusal: refuseMissingTarget },
  { rule: 'HEIC output requires the feature.', needs: 'name', refusal: refuseHeicOutput },
  { rule: 'The target is available for the kind.', needs: 'content', refusal: refuseOtherTarget },
];

/** Returns the first refusal that is certain by the known facts of the file; null when there is none. */
export function refusalOf(order: RuledOrder, file: KnownFile, lane: Lane): MediaError | null {
  for (const rule of RULES) {
    const refusal = refusalBy(rule, { order, file, lane });
    if (refusal !== null) return refusal;
  }
  return null;
}

function refusalBy(
  rule: WorkRule,
  { order, file, lane }: { order: RuledOrder; file: KnownFile; lane: Lane },
): MediaError | null {
  switch (rule.needs) {
    case 'order':
      return rule.refusal(order);
    case 'name':
      return file.by === 'nothing' ? null : rule.refusal(order, file);
    case 'content':
      return file.by === 'content' ? rule.refusal(order, withKind(file.format), lane) : null;
  }
}

/** Returns true when files of the kind may be accepted. An unknown target or option counts as acceptable. */
export function acceptsKind(order: RuledOrder, kind: Kind, lane: Lane): boolean {
  const [format] = inputFormatsOf(kind);
  if (format === undefined) return false;
  return RULES.every((rule) => rule.needs !== 'content' || rule.refusal(order, withKind(format), lane) === null);
}

/**
 * Returns the format of a file's result. Where the content decides (a TIFF, BMP or most audio with `original`), returns the
 * more frequent one.
 */
export function outputFormatOf(
  { operation, options }: Pick<WorkOrder, 'operation' | 'options'>,
  input: Format,
): Format {
  if (operation === 'strip_metadata') return input;
  if (operation === 'convert') return options.convert.to ?? input;
  const { kind } = FORMATS[input];
  if (kind === 'image') return options.image.format === 'original' ? compressedAs(input) : options.image.format;
  if (kind === 'audio') return options.audio.format === 'original' ? compressedAs(input) : options.audio.format;
  return kind === 'video' ? options.video.format : input;
}

/** Returns the refusal of a target that the kind does not have. */
export function unsupportedTarget(kind: Kind, to: Format | null): MediaError {
  const subject = withArticle(`${kind} file`).replace(/^a/, 'A');
  const message = `${subject} does not convert to ${to}. ${targetsOf(kind)}`;
  return new MediaError('unsupported_target', message, { param: 'convert.to' });
}

function withKind(format: Format): KindAndFormat {
  return { kind: FORMATS[format].kind, format };
}

function compressedAs(format: Format): Format {
  const written = FORMATS[format].compressedAs ?? format;
  return written === 'jpg or png' ? 'jpg' : written;
}

function refuseLane({ operation }: RuledOrder, { kind, format }: KindAndFormat, lane: Lane): MediaError | null {
  if (lane === 'job' || DIRECT_KINDS.includes(kind)) return null;
  const kinds = OPERATION_KINDS[operation];
  const advice = kinds.includes(kind)
    ? 'Create a job with POST /v1/jobs.'
    : `A job would fail too: ${operation} applies to ${kinds.join(', ')}.`;
  return new MediaError('use_async_job', `The file is ${format}; ${kind} files are handled by jobs only. ${advice}`);
}

function refuseOperation({ operation }: RuledOrder, { kind, format }: KindAndFormat): MediaError | null {
  const kinds = OPERATION_KINDS[operation];
  if (kinds.includes(kind)) return null;
  const message = `${operation} does not apply to ${kind} files such as ${format}. It applies to ${kinds.join(', ')}.`;
  return new MediaError('unsupported_input', message);
}

function refuseCameraRaw({ operation }: RuledOrder, { format }: KindAndFormat): MediaError | null {
  if (!isRaw(format) || operation === 'compress') return null;
  const message = `${operation} does not apply to camera RAW files such as ${format}. Compress it instead.`;
  return new MediaError('unsupported_input', message);
}

function refuseVideo({ features }: RuledOrder, { kind }: KindAndFormat): MediaError | null {
  if (kind !== 'video' || features.video) return null;
  return new MediaError('feature_not_enabled', 'Video is in limited preview and not enabled for this account.');
}

function refuseMissingTarget({ operation, options }: RuledOrder): MediaError | null {
  if (operation !== 'convert' || options.convert.to !== null) return null;
  return new MediaError('invalid_options', 'Convert needs a target format in `convert.to`.', { param: 'convert.to' });
}

function refuseHeicOutput(order: RuledOrder, file: NamedFile): MediaError | null {
  if (order.features.heicOutput || !writesHeic(order, file)) return null;
  const message =
    'HEIC output is in limited preview and not enabled for this account. Ask for another format, such as jpg or avif.';
  const param = order.operation === 'convert' ? 'convert.to' : 'image.format';
  return new MediaError('feature_not_enabled', message, { param });
}

/** Returns true for HEIC output. With `original` only the content decides, because a name is no proof of HEIC. */
function writesHeic(order: RuledOrder, file: NamedFile): boolean {
  const { operation, options } = order;
  if (operation === 'strip_metadata') return false;
  if (file.by === 'content') return outputFormatOf(order, file.format) === 'heic';
  if (operation === 'convert') return options.convert.to === 'heic';
  const mayBeImage = file.format === null || FORMATS[file.format].kind === 'image';
  return options.image.format === 'heic' && mayBeImage;
}

function refuseOtherTarget({ operation, options }: RuledOrder, { kind }: KindAndFormat): MediaError | null {
  const { to } = options.convert;
  if (operation !== 'convert' || to === null || CONVERT_TARGETS[kind].includes(to)) return null;
  return unsupportedTarget(kind, to);
}
