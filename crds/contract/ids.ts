/** Object ids: a prefix, an underscore, 20 characters of 0-9a-z, which are valid in Kubernetes names. */
import { randomInt } from 'node:crypto';

export const ID_PREFIXES = {
  request: 'req',
  upload: 'upl',
  job: 'job',
  event: 'evt',
  webhookEndpoint: 'whk',
  preset: 'pre',
  account: 'acc',
  key: 'key',
  user: 'usr',
} as const;

export type IdKind = keyof typeof ID_PREFIXES;

/** Generator of ids; tests pass a deterministic one. */
export type NewId = (kind: IdKind) => string;

const ALPHABET = '0123456789abcdefghijklmnopqrstuvwxyz';
const LENGTH = 20;

export const newId: NewId = (kind) => `${ID_PREFIXES[kind]}_${nameWord(LENGTH)}`;

/** Returns true when the text has the form of an id of a kind, whether or not the object exists. */
export function isId(kind: IdKind, text: string): boolean {
  return new RegExp(`^${ID_PREFIXES[kind]}_[0-9a-z]{${LENGTH}}$`).test(text);
}

/** Returns a random word of 0-9a-z, which is valid in Kubernetes names. */
export function nameWord(length: number): string {
  return randomWord(ALPHABET, length);
}

/** Returns a word of uniformly random characters from the alphabet, by the system's secure generator. */
export function randomWord(alphabet: string, length: number): string {
  let word = '';
  for (let i = 0; i < length; i += 1) word += alphabet.charAt(randomInt(alphabet.length));
  return word;
}
