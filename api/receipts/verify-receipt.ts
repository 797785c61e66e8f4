import { verify } from 'node:crypto';
import type { ReceiptKeys } from '#api/receipts/receipt-keys.ts';

export interface VerifiedReceipt {
  readonly keyId: string;
  /** Signed payload, as JSON. */
  readonly payload: string;
}

/** Returns the payload of a compact JWS that one of the keys signed; null otherwise. */
export function verifyReceipt(keys: ReceiptKeys, jws: string): VerifiedReceipt | null {
  const [header = '', payload = '', signature = '', ...rest] = jws.trim().split('.');
  if (rest.length > 0 || signature === '') return null;
  const key = keys.find(({ id }) => id === keyIdOf(header));
  if (key === undefined) return null;
  const isValid = verify(null, Buffer.from(`${header}.${payload}`), key.publicKey, Buffer.from(signature, 'base64url'));
  return isValid ? { keyId: key.id, payload: Buffer.from(payload, 'base64url').toString('utf8') } : null;
}

function keyIdOf(header: string): string | null {
  try {
    const { alg, kid } = JSON.parse(Buffer.from(header, 'base64url').toString('utf8')) as Record<string, unknown>;
    return alg === 'EdDSA' && typeof kid === 'string' ? kid : null;
  } catch {
    return null;
  }
}
