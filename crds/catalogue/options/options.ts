/**
 * Options of every operation: one zod field each, in the nested form of JSON bodies and as dotted paths of query
 * strings. Both are converted to a flat map from dotted path to value. Sources are merged there (weakest first: preset,
 * JSON, query), and the engine's complete options are resolved from it.
 */
import { z } from 'zod';
import { CONVERT_TARGETS, targetFormat, type Format, type Operation } from '#crds/catalogue/formats.ts';
import { MediaError } from '#crds/contract/media-error.ts';
import { audioOptions } from '#crds/catalogue/options/audio.ts';
import { convertOptions } from '#crds/catalogue/options/convert.ts';
import { imageOptions, RESIZE_MODES, RESIZE_SIDE } from '#crds/catalogue/options/image.ts';
import { refusedValue, requirementOf, suggestion } from '#crds/contract/refusal-words.ts';
import { refuseImpossiblePairs } from '#crds/catalogue/options/impossible-pairs.ts';
import { pdfOptions } from '#crds/catalogue/options/pdf.ts';
import { videoOptions } from '#crds/catalogue/options/video.ts';

/** Nested form of `options` in JSON bodies. */
export const optionsSchema = z.strictObject({
  image: imageOptions.optional(),
  pdf: pdfOptions.optional(),
  video: videoOptions.optional(),
  audio: audioOptions.optional(),
  convert: convertOptions.optional(),
});
export type SentOptions = z.infer<typeof optionsSchema>;

/** Values by dotted path, as one source set them. */
export type FlatOptions = ReadonlyMap<string, string | number | boolean>;

/** Complete options with defaults, as the engine and the MediaJob receive them. */
export const resolvedOptionsSchema = z.object({
  image: z.object({
    format: imageOptions.shape.format.unwrap(),
    quality: z.int(),
    /** null: keep the dimensions. Sides are clamped to 100 to 9999. */
    resize: z.object({ mode: z.enum(RESIZE_MODES), width: z.int(), height: z.int() }).nullable(),
    strip_metadata: z.boolean(),
  }),
  pdf: z.object({ quality: pdfOptions.shape.quality.unwrap() }),
  video: z.object({
    format: videoOptions.shape.format.unwrap(),
    codec: videoOptions.shape.codec.unwrap(),
    quality: videoOptions.shape.quality.unwrap(),
    /** Long side in pixels; null keeps the input's. */
    resolution: z.int().nullable(),
  }),
  audio: z.object({
    format: audioOptions.shape.format.unwrap(),
    quality: audioOptions.shape.quality.unwrap(),
    channels: audioOptions.shape.channels.unwrap(),
    strip_metadata: z.boolean(),
    bitrate_kbps: z.int().nullable(),
    sample_rate_hz: z.int().nullable(),
  }),
  /** `to` is null for operations other than convert. */
  convert: z.object({ to: z.custom<Format>().nullable(), page: z.int(), dpi: z.int() }),
});
export type ResolvedOptions = z.infer<typeof resolvedOptionsSchema>;

const RESIZE_PATHS = ['image.resize.mode', 'image.resize.width', 'image.resize.height'] as const;

/** Schemas of the options by dotted path, derived from `optionsSchema`. */
const LEAVES: ReadonlyMap<string, z.ZodType> = new Map(leavesOf(optionsSchema, ''));

export const OPTION_PATHS: readonly string[] = [...LEAVES.keys()];

/**
 * Parses options from a JSON value in the nested form.
 * @throws MediaError invalid_options with the dotted path in `param`.
 */
export function parseJsonOptions(value: unknown): FlatOptions {
  const parsed = optionsSchema.safeParse(value, { reportInput: true });
  if (!parsed.success) throw invalidOption(parsed.error);
  return flatten(parsed.data, '');
}

/**
 * Parses options from the dotted paths of a query string. Names in `short` are abbreviations of `convert.…`.
 * @throws MediaError invalid_options with the dotted path in `param`.
 */
export function parseQueryOptions(query: ReadonlyMap<string, string>, short: readonly string[] = []): FlatOptions {
  const flat = new Map<string, string | number | boolean>();
  for (const [name, text] of query) {
    const path = short.includes(name) ? `convert.${name}` : name;
    const leaf = LEAVES.get(path);
    if (leaf === undefined) {
      throw unknownOption(name);
    }
    if (flat.has(path)) throw new MediaError('invalid_options', `\`${path}\` is given twice.`, { param: path });
    const parsed = leaf.safeParse(leaf instanceof z.ZodString ? text : valueOfText(text));
    if (!parsed.success) throw badValue(path, text, parsed.error);
    flat.set(path, parsed.data as string | number | boolean);
  }
  return flat;
}

/**
 * Merges sources per dotted path, weakest first. When the strongest source of `image.resize` sets it to false and has no
 * box, the boxes of weaker sources are dropped.
 */
export function mergeOptions(...weakestFirst: readonly FlatOptions[]): FlatOptions {
  const merged = new Map<string, string | number | boolean>();
  const decides = weakestFirst.findLast((source) => source.has('image.resize'));
  for (const source of weakestFirst) {
    const endsResize =
      source === decides && source.get('image.resize') === false && !RESIZE_PATHS.some((path) => source.has(path));
    if (endsResize) for (const path of RESIZE_PATHS) merged.delete(path);
    for (const [path, value] of source) merged.set(path, value);
  }
  return merged;
}

/**
 * Returns the complete options with defaults.
 * @param operation null: for a preset, which may apply to several operations.
 * @throws MediaError unsupported_target, or invalid_options unless it converts, for a target that is no format;
 * invalid_options for pairs that exclude each other.
 */
export function resolveOptions(flat: FlatOptions, operation: Operation | null = 'convert'): ResolvedOptions {
  const get = <T>(path: string, fallback: T): T => (flat.get(path) as T | undefined) ?? fallback;
  const videoFormat = get<ResolvedOptions['video']['format']>('video.format', 'mp4');
  const resolution = get<number | 'original'>('video.resolution', 'original');
  const resolved: ResolvedOptions = {
    image: {
      format: get('image.format', 'original'),
      quality: get('image.quality', 75),
      resize: resolveResize(flat),
      strip_metadata: get('image.strip_metadata', true),
    },
    pdf: { quality: get('pdf.quality', 'medium') },
    video: {
      format: videoFormat,
      codec: get('video.codec', videoFormat === 'webm' ? 'vp9' : 'h265'),
      quality: get('video.quality', 'balanced'),
      resolution: resolution === 'original' ? null : resolution,
    },
    audio: {
      format: get('audio.format', 'aac'),
      quality: get('audio.quality', 'high'),
      channels: get('audio.channels', 'stereo'),
      strip_metadata: get('audio.strip_metadata', false),
      bitrate_kbps: get('audio.bitrate_kbps', null),
      sample_rate_hz: get('audio.sample_rate_hz', null),
    },
    convert: {
      to: resolveTarget(get('convert.to', null), operation),
      page: get('convert.page', 1),
      dpi: get('convert.dpi', 144),
    },
  };
  refuseImpossiblePairs({ ...resolved, isAudioFormatChosen: flat.has('audio.format') });
  return resolved;
}

function resolveResize(flat: FlatOptions): ResolvedOptions['image']['resize'] {
  const hasBox = RESIZE_PATHS.some((path) => flat.has(path));
  if (flat.get('image.resize') === false && !hasBox) return null;
  const side = (path: string): number =>
    Math.min(RESIZE_SIDE.max, Math.max(RESIZE_SIDE.min, (flat.get(path) as number | undefined) ?? RESIZE_SIDE.default));
  return {
    mode: (flat.get('image.resize.mode') as (typeof RESIZE_MODES)[number] | undefined) ?? 'fit',
    width: side('image.resize.width'),
    height: side('image.resize.height'),
  };
}

function resolveTarget(text: string | null, operation: Operation | null): Format | null {
  if (text === null) return null;
  const format = targetFormat(text);
  if (format !== null) return format;
  const targets = Object.entries(CONVERT_TARGETS).map(([kind, formats]) => `${kind} to ${formats.join(', ')}`);
  const message = `\`${text.slice(0, 40)}\` is no target format. Files convert by their kind: ${targets.join('; ')}.`;
  // The other operations check the target and ignore it. A preset has no file that the target could be wrong for.
  const code = operation === 'convert' ? 'unsupported_target' : 'invalid_options';
  throw new MediaError(code, message, { param: 'convert.to' });
}

function valueOfText(text: string): string | number | boolean {
  if (text === 'true') return true;
  if (text === 'false') return false;
  return /^-?\d{1,15}$/.test(text) ? Number(text) : text;
}

function flatten(value: object, prefix: string): Map<string, string | number | boolean> {
  const flat = new Map<string, string | number | boolean>();
  for (const [name, child] of Object.entries(value)) {
    if (child === undefined) continue;
    const path = `${prefix}${name}`;
    if (typeof child !== 'object') flat.set(path, child);
    else if (path === 'image.resize' && Object.keys(child).length === 0) flat.set(path, true);
    else for (const [below, leaf] of flatten(child, `${path}.`)) flat.set(below, leaf);
  }
  return flat;
}

function leavesOf(schema: z.ZodObject, prefix: string): [string, z.ZodType][] {
  return Object.entries(schema.shape).flatMap(([name, field]): [string, z.ZodType][] => {
    const path = `${prefix}${name}`;
    const inner = field instanceof z.ZodOptional ? field.unwrap() : field;
    if (inner instanceof z.ZodObject) return leavesOf(inner, `${path}.`);
    if (inner instanceof z.ZodUnion) {
      return inner.options.flatMap((option): [string, z.ZodType][] =>
        option instanceof z.ZodObject ? leavesOf(option, `${path}.`) : [[path, option as z.ZodType]],
      );
    }
    return [[path, inner as z.ZodType]];
  });
}

function invalidOption(error: z.ZodError): MediaError {
  const issue = deepest(error.issues[0]);
  if (issue === undefined) return new MediaError('invalid_options', 'The options are not valid.', { param: 'options' });
  const path = issue.path.join('.');
  if (issue.code === 'unrecognized_keys') {
    const param = [...issue.path, issue.keys[0]].join('.');
    return issue.path.length === 0 ? (flatOption(param) ?? unknownOption(param)) : unknownOption(param);
  }
  const param = path === '' ? 'options' : path;
  return new MediaError('invalid_options', refusedValue(param, issue), { param });
}

function unknownOption(param: string): MediaError {
  const message = `There is no option \`${param}\`.${suggestion(param, OPTION_PATHS)} The options are: ${OPTION_PATHS.join(', ')}.`;
  return new MediaError('invalid_options', message, { param });
}

/** Returns the refusal of a dotted path among JSON options; null for another name. */
function flatOption(param: string): MediaError | null {
  if (!LEAVES.has(param)) return null;
  const nested = param.split('.').reduceRight((inner, name) => `{"${name}": ${inner}}`, '…');
  const message = `Options in JSON are nested: send ${nested} in place of \`${param}\`.`;
  return new MediaError('invalid_options', message, { param });
}

/** Returns the issue with the longest path: within a union it is the most precise one. */
function deepest(issue: z.core.$ZodIssue | undefined, base: PropertyKey[] = []): z.core.$ZodIssue | undefined {
  if (issue === undefined) return undefined;
  const path = [...base, ...issue.path];
  if (issue.code !== 'invalid_union') return { ...issue, path };
  const inner = issue.errors.flat().find((below) => below.path.length > 0 || below.code === 'unrecognized_keys');
  return inner === undefined ? { ...issue, path, message: 'neither a boolean nor an object' } : deepest(inner, path);
}

function badValue(path: string, text: string, error: z.ZodError): MediaError {
  const issue = error.issues[0];
  // All numbers among the options are whole, and text such as `1.5` did not become a number.
  const isNumber = issue?.code === 'invalid_type' && issue.expected === 'number';
  const rule = isNumber ? 'it has to be a whole number' : issue === undefined ? 'not allowed' : requirementOf(issue);
  return new MediaError('invalid_options', `\`${path}\` is \`${text.slice(0, 100)}\`: ${rule}.`, { param: path });
}
