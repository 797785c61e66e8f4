import { MediaError } from '#crds/media-error.ts';

/** The refusal of a file whose containers do not nest or end as they must. */
export function brokenFile(name: string, why: string): MediaError {
  return new MediaError(
    'processing_failed',
    `The ${name} file is damaged or not complete: ${why}. Check that it opens in a viewer and send it again.`,
  );
}
