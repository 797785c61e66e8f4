import { MediaError } from '#crds/media-error.ts';

/** Says the same of a page that does not exist and of one that the visitor must not know of. */
export function notFound(): MediaError {
  return new MediaError('not_found', 'There is no such page, or you are no member of its account.');
}
