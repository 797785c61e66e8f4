import { attachment, outputName } from '#api/files/output-name.ts';
import { FORMATS } from '#crds/catalogue/formats.ts';
import type { EngineResult } from '#crds/contract/result.ts';

/** Some clients reject header blocks above 16 KiB: warnings that do not fit are omitted. */
const RESULT_HEADER_BYTES = 4000;

/** Returns the headers of the response with the file (docs/reference/direct.md#response). */
export function resultHeaders({
  result,
  filename,
  billed,
}: {
  result: EngineResult;
  filename: string | null;
  billed: boolean;
}): Readonly<Record<string, string | number>> {
  return {
    'Content-Type': FORMATS[result.output_format].mediaType,
    'Content-Length': result.output_size,
    'Content-Disposition': attachment(outputName(filename, result)),
    'Cache-Control': 'no-store',
    'Svc-Original-Size': result.original_size,
    'Svc-Output-Size': result.output_size,
    'Svc-Savings-Percent': result.savings_percent.toFixed(1),
    'Svc-Output-Format': result.output_format,
    'Svc-Kept-Original': String(result.kept_original),
    'Svc-Billed': String(billed),
    'Svc-Result': resultHeader(result),
  };
}

/** Returns the result as compact JSON on one line of printable ASCII. */
export function resultHeader(result: EngineResult): string {
  const shown = { ...result, download_url: null, download_expires_at: null };
  let warnings = [...result.warnings];
  let text = asciiJson({ ...shown, warnings });
  while (text.length > RESULT_HEADER_BYTES && warnings.length > 0) {
    warnings = warnings.slice(0, -1);
    text = asciiJson({ ...shown, warnings });
  }
  return text;
}

function asciiJson(value: unknown): string {
  return JSON.stringify(value).replaceAll(/[^\x20-\x7e]/g, '?');
}
