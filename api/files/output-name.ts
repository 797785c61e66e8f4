import { create } from 'content-disposition';
import { extensionOf, type Format } from '#crds/formats.ts';

/**
 * Name of a returned file: the name that was sent with its extension replaced by the output format's;
 * `file` when there was none. Spec: Common: direct endpoints.
 */
export function outputName(filename: string | null, result: { readonly output_format: Format }): string {
  const extension = extensionOf(result.output_format);
  const name = filename ?? 'file';
  const dot = name.lastIndexOf('.');
  const stem = dot > 0 ? name.slice(0, dot) : name;
  return `${stem}.${extension}`;
}

/** `Content-Disposition` of a returned file (RFC 6266). The plain name is always quoted: some readers know no other form. */
export function attachment(filename: string): string {
  return create(filename).replace(/; filename=([^";]+)/, '; filename="$1"');
}
