import canonicalize from 'canonicalize';

/** Returns the canonical JSON of a value (RFC 8785): the same text for any order of the members. */
export function canonicalJson(value: object): string {
  const text = canonicalize(value);
  if (text === undefined) throw new TypeError('the value cannot be represented as JSON');
  return text;
}
