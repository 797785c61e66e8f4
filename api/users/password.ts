/** Passwords as argon2id hashes in the PHC string format, which contains the cost parameters. */
import { argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { MediaError } from '#crds/contract/media-error.ts';

const argon2Async = promisify(argon2);

/** Cost that OWASP recommends for argon2id: 19 MiB, two passes, one lane. Memory in KiB. */
const COST = { memory: 19_456, passes: 2, parallelism: 1 } as const;
const SALT_BYTES = 16;
const TAG_BYTES = 32;

export const PASSWORD_LENGTH = { min: 12, max: 200 } as const;

/** Returns the password. @throws MediaError bad_request when it is too short, too long or easy to guess. */
export function checkedPassword(password: string, { email }: { readonly email: string }): string {
  const length = Array.from(password).length;
  if (length < PASSWORD_LENGTH.min || length > PASSWORD_LENGTH.max) {
    throw refused(`It has ${length} characters; use ${PASSWORD_LENGTH.min} to ${PASSWORD_LENGTH.max}.`);
  }
  if (new Set(password).size < 5) throw refused('It repeats few characters; use at least 5 different ones.');
  if (password.toLowerCase() === email) throw refused('It is the e-mail address; choose one that nobody can guess.');
  return password;
}

/** Returns the hash of a password, with a new random salt. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const tag = await derive(password, salt, COST);
  const { memory, passes, parallelism } = COST;
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${base64(salt)}$${base64(tag)}`;
}

/**
 * Returns true when the password matches the stored hash. Takes the same time without a stored hash, so that the
 * response time does not reveal whether a login exists.
 */
export async function isPassword(password: string, stored: string | null): Promise<boolean> {
  const parsed = stored === null ? null : parse(stored);
  const { salt, tag, ...cost } = parsed ?? { salt: Buffer.alloc(SALT_BYTES), tag: Buffer.alloc(TAG_BYTES), ...COST };
  const given = await derive(password, salt, cost);
  return timingSafeEqual(given, tag) && parsed !== null;
}

interface Cost {
  readonly memory: number;
  readonly passes: number;
  readonly parallelism: number;
}

async function derive(password: string, salt: Buffer, cost: Cost): Promise<Buffer> {
  const message = Buffer.from(password.normalize('NFC'));
  return argon2Async('argon2id', { message, nonce: salt, tagLength: TAG_BYTES, ...cost });
}

const PHC = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]{43})$/;

function parse(stored: string): Cost & { readonly salt: Buffer; readonly tag: Buffer } {
  const [, memory, passes, parallelism, salt = '', tag = ''] = PHC.exec(stored) ?? [];
  if (memory === undefined) throw new Error('a stored password is not an argon2id hash of this service');
  return {
    memory: Number(memory),
    passes: Number(passes),
    parallelism: Number(parallelism),
    salt: Buffer.from(salt, 'base64'),
    tag: Buffer.from(tag, 'base64'),
  };
}

function base64(bytes: Buffer): string {
  return bytes.toString('base64').replace(/=+$/, '');
}

function refused(message: string): MediaError {
  return new MediaError('bad_request', message, { param: 'password' });
}
