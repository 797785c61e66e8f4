import { FORMATS, type Kind } from '#crds/formats.ts';
import { formatOfRiff } from '#worker-image/engine/identify/riff.ts';
import { formatOfSignature } from '#worker-image/engine/identify/signatures.ts';

/** The kind that the first bytes of a file promise; null when they tell nothing. A hint only: `identify` decides. */
export function firstLook(head: Buffer): Kind | null {
  try {
    const format = formatOfRiff(head) ?? formatOfSignature(head);
    return format === null ? null : FORMATS[format].kind;
  } catch {
    return null;
  }
}
