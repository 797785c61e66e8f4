/**
 * Encrypts the secrets that we must be able to read again (URLs with signatures, webhook secrets), so
 * that a copy of the database alone gives none away. AES-256-GCM with a random nonce.
 *
 *   sealed = version (1 byte) | length of the key id (1) | key id | nonce (12) | tag (16) | ciphertext
 *
 * Everything before the nonce and the context are authenticated with it: a value moved to another row
 * or column does not open.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type { RingKey } from '#crds/shared/settings.ts';

export interface SecretBox {
  /** `context` says where the value is kept, such as `jobs.input_url job_…`; opening needs the same one. */
  seal(plain: string, context: string): Buffer;
  /** @throws SecretBoxError when the key is not in the ring, the context differs, or a byte was changed. */
  open(sealed: Buffer, context: string): string;
}

export class SecretBoxError extends Error {
  override readonly name = 'SecretBoxError';
}

const VERSION = 1;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** The first key seals; every key opens what it sealed, so keys are rotated by putting a new one in front. */
export function makeSecretBox(keys: readonly RingKey[]): SecretBox {
  const first = keys[0];
  if (first === undefined) throw new SecretBoxError('There is no encryption key: at least one is needed.');
  return {
    seal: (plain, context) => seal(first, plain, context),
    open: (sealed, context) => open(keys, sealed, context),
  };
}

function seal(ringKey: RingKey, plain: string, context: string): Buffer {
  const head = Buffer.concat([Buffer.from([VERSION, Buffer.byteLength(ringKey.id)]), Buffer.from(ringKey.id)]);
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', ringKey.key, nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(Buffer.concat([head, Buffer.from(context)]));
  const ciphertext = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
  return Buffer.concat([head, nonce, cipher.getAuthTag(), ciphertext]);
}

function open(keys: readonly RingKey[], sealed: Buffer, context: string): string {
  const headLength = 2 + (sealed[1] ?? 0);
  if (sealed[0] !== VERSION || sealed.length < headLength + NONCE_BYTES + TAG_BYTES) {
    throw new SecretBoxError('A stored secret does not open: it is cut off or not one of ours.');
  }
  const head = sealed.subarray(0, headLength);
  const id = head.subarray(2).toString();
  const ringKey = keys.find((candidate) => candidate.id === id);
  if (ringKey === undefined) {
    throw new SecretBoxError(
      'A stored secret does not open: the encryption key that sealed it is not among the given ones.',
    );
  }
  const tagAt = headLength + NONCE_BYTES;
  const decipher = createDecipheriv('aes-256-gcm', ringKey.key, sealed.subarray(headLength, tagAt), {
    authTagLength: TAG_BYTES,
  });
  decipher.setAAD(Buffer.concat([head, Buffer.from(context)]));
  decipher.setAuthTag(sealed.subarray(tagAt, tagAt + TAG_BYTES));
  try {
    return Buffer.concat([decipher.update(sealed.subarray(tagAt + TAG_BYTES)), decipher.final()]).toString('utf8');
  } catch (error) {
    throw new SecretBoxError('A stored secret does not open: it was changed, or belongs to another place.', {
      cause: error,
    });
  }
}
