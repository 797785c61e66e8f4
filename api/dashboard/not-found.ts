import { MediaError } from '#crds/contract/media-error.ts';

/** Returns the same error for a missing page and for one whose existence the user must not learn. */
export function notFound(): MediaError {
  return new MediaError('not_found', 'There is no such page, or you are not a member of its account.');
}
