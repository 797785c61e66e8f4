import { MediaError } from '#crds/contract/media-error.ts';

/** Returns the refusal of a file whose structure is damaged or truncated. */
export function brokenFile(name: string, why: string): MediaError {
  return new MediaError(
    'processing_failed',
    `The ${name} file is damaged or not complete: ${why}. Check that it opens in a viewer and send it again.`,
  );
}
