/**
 * Encryption of stored secrets that must be readable again (signed URLs, webhook secrets), so that a copy of the
 * database alone does not reveal them. AES-256-GCM with a random nonce.
 *
 *   sealed = version (1 byte) | length of the key id (1) | key id | nonce (12) | tag (16) | ciphertext
 *
 * The bytes before the nonce and the context are authenticated too: a value that was copied to another row or column
 * cannot be decrypted.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type { RingKey } from '#crds/process/ring-key.ts';

export interface SecretBox {
  /** Encrypts a text. `context` names the row and column, such as `job-input:job_…`; `open` needs the same one. */
  seal(plain: string, context: string): Buffer;
  /** Decrypts. @throws SecretBoxError when the key is not in the ring, the context differs or a byte was changed. */
  open(sealed: Buffer, context: string): string;
}

export class SecretBoxError extends Error {
  override readonly name = 'SecretBoxError';
}

const VERSION = 1;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Returns a box that encrypts with the first key and decrypts with all: keys are rotated by prepending a new one. */
export function makeSecretBox(keys: readonly RingKey[]): SecretBox {
  const first = keys[0];
  if (first === undefined) throw new SecretBoxError('No encryption key is configured: at least one is required.');
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
    throw new SecretBoxError('Cannot decrypt a stored secret: it is truncated or was not encrypted by this service.');
  }
  const head = sealed.subarray(0, headLength);
  const id = head.subarray(2).toString();
  const ringKey = keys.find((candidate) => candidate.id === id);
  if (ringKey === undefined) {
    throw new SecretBoxError('Cannot decrypt a stored secret: its encryption key is not among the configured keys.');
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
    throw new SecretBoxError('Cannot decrypt a stored secret: it was altered or belongs to another record.', {
      cause: error,
    });
  }
}
