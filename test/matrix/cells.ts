/** Every input format × every operation × every target, with the documented outcome. */
import type { ErrorCode } from '#crds/contract/error-codes.ts';
import {
  CONVERT_TARGETS,
  FORMAT_NAMES,
  FORMATS,
  OPERATION_KINDS,
  type Format,
  type Kind,
  type Operation,
} from '#crds/catalogue/formats.ts';
import { audioOptions } from '#crds/catalogue/options/audio.ts';
import { imageOptions } from '#crds/catalogue/options/image.ts';
import type { SentOptions } from '#crds/catalogue/options/options.ts';
import { pdfOptions } from '#crds/catalogue/options/pdf.ts';
import { videoOptions } from '#crds/catalogue/options/video.ts';

export interface Cell {
  readonly input: Format;
  readonly operation: Operation;
  /** Value of the option: a format, `original`, or a tier of PDFs; `–` for an operation without a target. */
  readonly target: string;
  readonly options: SentOptions;
  readonly refusal: ErrorCode | null;
}

/** Values of the `format` options of compress; for PDF the tiers. */
const COMPRESS_CHOICES: Readonly<Partial<Record<Kind, readonly string[]>>> = {
  image: imageOptions.shape.format.unwrap().options,
  pdf: pdfOptions.shape.quality.unwrap().options,
  video: videoOptions.shape.format.unwrap().options,
  audio: audioOptions.shape.format.unwrap().options,
};

const INPUTS = FORMAT_NAMES.filter((format) => FORMATS[format].input);

export const CELLS: readonly Cell[] = INPUTS.flatMap((input) => [
  ...compressChoices(FORMATS[input].kind).map((target) => compressCell(input, target)),
  ...FORMAT_NAMES.map((target) => convertCell(input, target)),
  {
    input,
    operation: 'strip_metadata' as const,
    target: '–',
    options: {},
    refusal: refusalOf(input, 'strip_metadata'),
  },
]);

/** Returns the targets to try; kinds without one are tried once and refused. */
export function compressChoices(kind: Kind): readonly string[] {
  return COMPRESS_CHOICES[kind] ?? ['–'];
}

export function nameOf({ input, operation, target }: Cell): string {
  return `${input} ${operation} ${target}`;
}

function compressCell(input: Format, target: string): Cell {
  const options = compressOptions(FORMATS[input].kind, target, INPUTS.indexOf(input));
  return { input, operation: 'compress', target, options, refusal: refusalOf(input, 'compress') };
}

/** Returns the options of compress. Adjacent video inputs use different codecs, to test each in every container. */
function compressOptions(kind: Kind, target: string, index: number): SentOptions {
  if (kind === 'image') return { image: { format: target } } as SentOptions;
  if (kind === 'pdf') return { pdf: { quality: target } } as SentOptions;
  // With its tags removed, which the comparison looks for; conversions keep them.
  if (kind === 'audio') return { audio: { format: target, strip_metadata: true } } as SentOptions;
  if (kind !== 'video') return {};
  const codecs = target === 'webm' ? ['vp9'] : target === 'mov' ? ['h265', 'h264'] : ['h264', 'h265', 'vp9'];
  return { video: { format: target, codec: codecs[index % codecs.length] } } as SentOptions;
}

function convertCell(input: Format, target: Format): Cell {
  const general = refusalOf(input, 'convert');
  const isListed = CONVERT_TARGETS[FORMATS[input].kind].includes(target);
  const refusal = general ?? (isListed ? null : 'unsupported_target');
  return { input, operation: 'convert', target, options: { convert: { to: target } }, refusal };
}

/** Returns the code of a refused pair, else null (docs/reference/errors.md#unsupported_input). */
function refusalOf(input: Format, operation: Operation): ErrorCode | null {
  const row: { readonly kind: Kind; readonly raw?: true } = FORMATS[input];
  if (!OPERATION_KINDS[operation].includes(row.kind)) return 'unsupported_input';
  return row.raw === true && operation !== 'compress' ? 'unsupported_input' : null;
}
