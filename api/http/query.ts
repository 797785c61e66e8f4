import { z } from 'zod';
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

/** A whole number from `min` to `max` in a query, in decimal digits only: no sign, point, exponent, prefix or space. */
export function queryNumber({ min, max }: { min: number; max: number }): z.ZodType<number> {
  const number = z.number('send a whole number in decimal digits').int().min(min).max(max);
  return z.preprocess((text) => (typeof text === 'string' && /^\d{1,15}$/.test(text) ? Number(text) : text), number);
}
