/**
 * Uploads: the caller's bytes on their way to a job.
 *
 *   (none) ──create──→ created ──PUT content──→ uploaded ─┐  PUT again replaces the content
 *                        │  ╲──PUT parts, complete──→ completed
 *                        └──24 h unused──→ deleted       └──a job that used it ends──→ deleted
 *
 * Spec: Upload states. Content is kept under `uploads/<id>`, parts under `uploads/<id>.parts/<n>`.
 */
import { LIMITS } from '#crds/plans.ts';

export function contentKey(uploadId: string): string {
  return `uploads/${uploadId}`;
}

export function partsFolder(uploadId: string): string {
  return `uploads/${uploadId}.parts/`;
}

export function partKey(uploadId: string, partNumber: number): string {
  return `${partsFolder(uploadId)}${partNumber}`;
}

/** Sizes in bytes of the parts, in order; the last one is the rest. */
export function partSizes(size: number): readonly number[] {
  const count = Math.ceil(size / LIMITS.uploadPartBytes);
  return Array.from({ length: count }, (_, index) =>
    Math.min(LIMITS.uploadPartBytes, size - index * LIMITS.uploadPartBytes),
  );
}

/**
 * The last path component of a file name, fit for a header and for the database: no control characters, at
 * most 255 characters of which the extension stays. null when nothing is left. Spec: Uploads; direct endpoints.
 */
export function lastComponent(filename: string | null | undefined): string | null {
  const clean = (filename ?? '').toWellFormed().replaceAll(/\p{Cc}/gu, '');
  const last = clean.split(/[/\\]/).at(-1)?.trim() ?? '';
  return last === '' || last === '.' || last === '..' ? null : shortened(last);
}

const MAX_NAME = 255;
/** The longest ending that counts as an extension, with its dot. */
const MAX_EXTENSION = 16;

/** Cut in front of the extension, as some formats are told apart by it, and never inside a character. */
function shortened(name: string): string {
  const characters = Array.from(name);
  if (characters.length <= MAX_NAME) return name;
  const dot = characters.lastIndexOf('.');
  const extension = dot >= characters.length - MAX_EXTENSION ? characters.slice(dot) : [];
  return [...characters.slice(0, MAX_NAME - extension.length), ...extension].join('');
}
