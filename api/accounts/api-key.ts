/**
 * The text of an API key: prefix of the mode and 32 letters and digits. It is shown once; we keep its
 * HMAC-SHA256 under a pepper, so that neither a copy of the database nor a guess gives a key away.
 * Spec: Authentication 3.
 */
import { createHmac } from 'node:crypto';
import { randomWord } from '#crds/ids.ts';

const PREFIXES = { live: 'svc_live_', test: 'svc_test_' } as const;
export type KeyMode = keyof typeof PREFIXES;

/** Gives random words; passed in, so that a test can hand out known ones. */
export type NewWord = (alphabet: string, length: number) => string;

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const LENGTH = 32;
const FORM = /^svc_(live|test)_[A-Za-z0-9]{32}$/;

export function newKeyText(mode: KeyMode, newWord: NewWord = randomWord): string {
  return PREFIXES[mode] + newWord(ALPHABET, LENGTH);
}

/** True when the text has the form of a key. Says nothing about existence. */
export function isKeyText(text: string): boolean {
  return FORM.test(text);
}

/** The first one is used for storing, every one for finding. */
export type Peppers = readonly [string, ...string[]];

/** What is stored of the key and what it is found by. */
export function keyDigest(pepper: string, keyText: string): Buffer {
  return createHmac('sha256', pepper).update(keyText).digest();
}

/** Enough to tell one's keys apart: `svc_live_…Ab3d`. */
export function keyHint(keyText: string): string {
  return `${keyText.slice(0, PREFIXES.live.length)}…${keyText.slice(-4)}`;
}
