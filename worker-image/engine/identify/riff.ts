import type { Format } from '#crds/formats.ts';
import { has } from '#worker-image/engine/identify/signatures.ts';
import { unsupported } from '#worker-image/engine/identify/unsupported.ts';

/** RIFF and its 64-bit kin by form type; null when it is none. */
export function formatOfRiff(head: Buffer): Format | null {
  if (!['RIFF', 'RF64', 'BW64'].some((magic) => has(head, magic)) || head.length < 12) return null;
  const form = head.toString('latin1', 8, 12);
  if (form === 'WEBP') return 'webp';
  if (form === 'WAVE') return 'wav';
  if (form === 'AVI ') return 'avi';
  throw unsupported(`a RIFF file of the form ${JSON.stringify(form)}`);
}

const BMP_HEADERS: readonly number[] = [12, 16, 40, 52, 56, 64, 108, 124];

/** A bitmap has two letters only as its mark; the length of the second header makes it sure. */
export function formatOfBmp(head: Buffer): Format | null {
  return has(head, 'BM') && head.length >= 26 && BMP_HEADERS.includes(head.readUInt32LE(14)) ? 'bmp' : null;
}
