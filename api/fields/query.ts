import { z } from 'zod';
import { adviceOn } from '#crds/contract/refusal-words.ts';
import { MediaError } from '#crds/contract/media-error.ts';

/**
 * Returns the parameters of a query by name.
 * @throws MediaError bad_request when a name is repeated.
 */
export function readQuery(query: URLSearchParams): ReadonlyMap<string, string> {
  const parameters = new Map<string, string>();
  for (const [name, value] of query) {
    if (parameters.has(name))
      throw new MediaError('bad_request', `The query has \`${name}\` more than once; send it once.`, { param: name });
    parameters.set(name, value);
  }
  return parameters;
}

/** Refuses a parameter that the endpoint does not have. @throws MediaError bad_request */
export function refuseUnknownParameters(
  { query: schema }: { readonly query?: z.ZodObject },
  query: URLSearchParams,
): void {
  const known = Object.keys(schema?.shape ?? {});
  for (const name of query.keys()) {
    if (known.includes(name)) continue;
    throw new MediaError('bad_request', `There is no parameter \`${name}\`.${adviceOn(name, known)}`, { param: name });
  }
}

/** Returns the schema of a whole number in a query: decimal digits only, no sign, point, exponent, prefix or space. */
export function queryNumber({ min, max }: { min: number; max: number }): z.ZodType<number> {
  const error = ({ code }: { code?: string }): string | undefined =>
    code === 'invalid_type' ? `it has to be a whole number from ${min} to ${max}` : undefined;
  const number = z.number({ error }).int().min(min).max(max);
  return z.preprocess((text) => (typeof text === 'string' && /^\d{1,15}$/.test(text) ? Number(text) : text), number);
}
