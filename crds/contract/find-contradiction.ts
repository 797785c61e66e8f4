import { CONVERT_TARGETS, FORMATS, OPERATION_KINDS, type Format } from '#crds/catalogue/formats.ts';
import type { WorkerReport } from '#crds/contract/media-job.ts';
import type { EngineResult } from '#crds/contract/result.ts';
import type { UnnamedWorkOrder } from '#crds/contract/work-order.ts';
import { savingsPercent } from '#crds/catalogue/savings.ts';

/** Facts that the reader of a report knows independently of it. */
export interface KnownWork extends Pick<UnnamedWorkOrder, 'operation' | 'options' | 'limits'> {
  /** In bytes; null when the reader does not know it. */
  readonly inputSize: number | null;
  /** In bytes; null when the reader does not know it. */
  readonly outputSize: number | null;
}

interface ReportRule {
  readonly rule: string;
  readonly isBroken: (result: EngineResult, known: KnownWork) => boolean;
}

const RULES: readonly ReportRule[] = [
  {
    rule: 'The kind is that of the input format.',
    isBroken: ({ kind, input_format }) => FORMATS[input_format].kind !== kind,
  },
  {
    rule: 'The operation applies to the kind.',
    isBroken: ({ kind }, { operation }) => !OPERATION_KINDS[operation].includes(kind),
  },
  {
    rule: 'The output has a requested format.',
    isBroken: (result, known) => !isPossibleOutput(result, known),
  },
  {
    rule: 'The size of the input is the stored one.',
    isBroken: ({ original_size }, { inputSize }) => inputSize !== null && original_size !== inputSize,
  },
  {
    rule: 'The size of the output is the received one.',
    isBroken: ({ output_size }, { outputSize }) => outputSize !== null && output_size !== outputSize,
  },
  {
    rule: 'The savings follow from the sizes.',
    isBroken: (result) =>
      result.savings_percent !== savingsPercent(result.original_size, result.output_size) ||
      result.increased !== result.output_size > result.original_size,
  },
  {
    rule: 'A kept original has the size and format of the input.',
    isBroken: (result, { operation }) =>
      result.kept_original &&
      (operation !== 'compress' ||
        result.output_size !== result.original_size ||
        result.output_format !== result.input_format),
  },
  {
    rule: 'Only a PDF has pages, within the limit.',
    isBroken: ({ kind, pages }, { limits }) => (kind === 'pdf') !== (pages !== null) || (pages ?? 0) > limits.maxPages,
  },
  {
    rule: 'Only audio and video have a duration, within the limit.',
    isBroken: ({ kind, duration_seconds: seconds }, { limits }) =>
      seconds !== null && ((kind !== 'audio' && kind !== 'video') || seconds > limits.maxSeconds),
  },
  {
    rule: 'Only video has a video codec.',
    isBroken: ({ kind, video_codec }) => kind !== 'video' && video_codec !== null,
  },
];

/** Returns the first rule that the report violates; null when it is consistent. */
export function findContradiction({ result }: Pick<WorkerReport, 'result'>, known: KnownWork): string | null {
  return RULES.find(({ isBroken }) => isBroken(result, known))?.rule ?? null;
}

function isPossibleOutput({ kind, input_format, output_format }: EngineResult, known: KnownWork): boolean {
  switch (known.operation) {
    case 'convert':
      return output_format === known.options.convert.to && CONVERT_TARGETS[kind].includes(output_format);
    case 'strip_metadata':
      return output_format === input_format;
    case 'compress':
      return output_format === input_format || isCompressedFormat(kind, output_format, known.options);
  }
}

function isCompressedFormat(kind: EngineResult['kind'], output: Format, options: KnownWork['options']): boolean {
  if (FORMATS[output].kind !== kind) return false;
  if (kind !== 'image' && kind !== 'audio' && kind !== 'video') return false;
  const requested = options[kind].format;
  return requested === 'original' || output === requested;
}
