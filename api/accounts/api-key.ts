/**
 * Text of an API key: prefix of the mode and 32 letters and digits. It is shown once. The database stores its
 * HMAC-SHA256 under a pepper, so a copy of the database does not reveal keys. See
 * docs/reference/basics.md#keys-and-modes.
 */
import { createHmac } from 'node:crypto';
import { randomWord } from '#crds/contract/ids.ts';

const PREFIXES = { live: 'svc_live_', test: 'svc_test_' } as const;
export type KeyMode = keyof typeof PREFIXES;

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const LENGTH = 32;
const FORM = /^svc_(live|test)_[A-Za-z0-9]{32}$/;

export function newKeyText(mode: KeyMode): string {
  return PREFIXES[mode] + randomWord(ALPHABET, LENGTH);
}

/** Returns true when the text has the form of a key, whether or not the key exists. */
export function isKeyText(text: string): boolean {
  return FORM.test(text);
}

/** Peppers of key digests: the first is used for new digests, all for look-ups. */
export type Peppers = readonly [string, ...string[]];

/** Returns the digest that a key is stored and found by. */
export function keyDigest(pepper: string, keyText: string): Buffer {
  return createHmac('sha256', pepper).update(keyText).digest();
}

/** Returns the part of a key that lists show, such as `svc_live_…Ab3d`. */
export function keyHint(keyText: string): string {
  return `${keyText.slice(0, PREFIXES.live.length)}…${keyText.slice(-4)}`;
}
