import { MediaError } from '#crds/contract/media-error.ts';

/** Returns the refusal of a document that only opens with a password. */
export function passwordRequired(): MediaError {
  return new MediaError(
    'processing_failed',
    'The document is protected by a password. Save it without one and send it again.',
  );
}
