/**
 * Uploads: files of callers that become inputs of jobs.
 *
 *   (none) ──create──→ created ──PUT content──→ uploaded ─┐  PUT again replaces the content
 *                        │  ╲──PUT parts, complete──→ completed
 *                        └──24 h unused──→ deleted       └──a job that used it ends──→ deleted
 *
 * See docs/reference/uploads.md#upload-states. Content is stored under `uploads/<id>`, parts under
 * `uploads/<id>.parts/<n>`.
 */
import { LIMITS } from '#crds/catalogue/plans.ts';

export function contentKey(uploadId: string): string {
  return `uploads/${uploadId}`;
}

/** Returns the prefix of the keys of an upload's parts. */
export function partsFolder(uploadId: string): string {
  return `uploads/${uploadId}.parts/`;
}

export function partKey(uploadId: string, partNumber: number): string {
  return `${partsFolder(uploadId)}${partNumber}`;
}

/** Returns the sizes of the parts in order, in bytes; the last one is the rest. */
export function partSizes(size: number): readonly number[] {
  const count = Math.ceil(size / LIMITS.uploadPartBytes);
  return Array.from({ length: count }, (_, index) =>
    Math.min(LIMITS.uploadPartBytes, size - index * LIMITS.uploadPartBytes),
  );
}

/**
 * Returns the last path component of a file name without control characters, in at most 255 characters that include the
 * extension. Returns null when nothing is left.
 */
export function lastComponent(filename: string | null | undefined): string | null {
  const clean = (filename ?? '').toWellFormed().replaceAll(/\p{Cc}/gu, '');
  const last = clean.split(/[/\\]/).at(-1)?.trim() ?? '';
  return last === '' || last === '.' || last === '..' ? null : shortened(last);
}

const MAX_NAME = 255;
/** Maximum length of an extension, with its dot. */
const MAX_EXTENSION = 16;

/** Truncates a name in front of the extension, which identifies some formats, and never inside a character. */
function shortened(name: string): string {
  const characters = Array.from(name);
  if (characters.length <= MAX_NAME) return name;
  const dot = characters.lastIndexOf('.');
  const extension = dot >= characters.length - MAX_EXTENSION ? characters.slice(dot) : [];
  return [...characters.slice(0, MAX_NAME - extension.length), ...extension].join('');
}
