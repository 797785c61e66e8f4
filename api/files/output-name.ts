import { create } from 'content-disposition';
import { extensionOf, type Format } from '#crds/catalogue/formats.ts';

/**
 * Returns the name of a result: the sent name with the extension of the output format; the stem is `file` when no name
 * was sent. See docs/reference/direct.md#response.
 */
export function outputName(filename: string | null, result: { readonly output_format: Format }): string {
  const extension = extensionOf(result.output_format);
  const name = filename ?? 'file';
  const dot = name.lastIndexOf('.');
  const stem = dot > 0 ? name.slice(0, dot) : name;
  return `${stem}.${extension}`;
}

/** Returns the `Content-Disposition` of a result (RFC 6266). `filename` is always quoted: some clients need quotes. */
export function attachment(filename: string): string {
  return create(filename).replace(/^attachment; filename=([^";]+)/, 'attachment; filename="$1"');
}
