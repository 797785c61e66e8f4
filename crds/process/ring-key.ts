/** Secret key with an id that its ciphertexts and signatures refer to, so that keys can be replaced. */
export interface RingKey {
  readonly id: string;
  /** 32 bytes. */
  readonly key: Buffer;
}

/** Returns the key of an entry `id:base64` of valid form. */
export function parseRingKey(entry: string): RingKey {
  const colon = entry.indexOf(':');
  return { id: entry.slice(0, colon), key: Buffer.from(entry.slice(colon + 1), 'base64') };
}
