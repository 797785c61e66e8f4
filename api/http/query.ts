import { MediaError } from '#crds/media-error.ts';

/**
 * The query's parameters.
 * @throws MediaError bad_request when a name stands there twice.
 */
export function readQuery(query: URLSearchParams): ReadonlyMap<string, string> {
  const read = new Map<string, string>();
  for (const [name, value] of query) {
    if (read.has(name))
      throw new MediaError('bad_request', `The query has \`${name}\` more than once; send it once.`, { param: name });
    read.set(name, value);
  }
  return read;
}
