import { FORMATS, formatOfName, type Kind } from '#crds/catalogue/formats.ts';
import type { ResolvedOptions } from '#crds/catalogue/options/options.ts';
import type { Job } from '#api/jobs/job.ts';

type AppliedOptions = Readonly<Record<string, unknown>>;

/**
 * Returns the options that a job used, in the nested form: those of its operation and of the kind of its file. Without
 * a result the kind is that of the file name.
 */
export function appliedOptions({
  operation,
  options,
  result,
  inputFilename,
}: Pick<Job, 'operation' | 'options' | 'result' | 'inputFilename'>): AppliedOptions {
  const format = result?.input_format ?? formatOfName(inputFilename);
  const kind = format === null ? null : FORMATS[format].kind;
  switch (operation) {
    case 'strip_metadata':
      return {};
    case 'convert':
      return { convert: convertOptions(options, kind) };
    case 'compress':
      return kind === null ? withoutConvert(options) : compressOptions(options, kind);
  }
}

/** Page and resolution apply to PDF files only. */
function convertOptions({ convert }: ResolvedOptions, kind: Kind | null): AppliedOptions {
  return kind === 'pdf' || kind === null ? convert : { to: convert.to };
}

function compressOptions(options: ResolvedOptions, kind: Kind): AppliedOptions {
  const groups: AppliedOptions = withoutConvert(options);
  return kind in groups ? { [kind]: groups[kind] } : {};
}

function withoutConvert({ convert: _convert, ...rest }: ResolvedOptions): AppliedOptions {
  return rest;
}
