/**
 * Ed25519 keys of receipts. A receipt is signed with the key that was in use when its job finished, so that it stays
 * the same after a rotation.
 */
import { createHash, createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { z } from 'zod';
import type { ReceiptKeySetting } from '#crds/process/receipt-key-ring.ts';

export interface ReceiptKey {
  /** Thumbprint of the public key (RFC 7638). */
  readonly id: string;
  readonly publicKey: KeyObject;
  /** null: kept so that old receipts can be verified. */
  readonly privateKey: KeyObject | null;
  readonly createdAt: Date | null;
  readonly retiredAt: Date | null;
}

/** Keys, newest first; the first one is in use. */
export type ReceiptKeys = readonly ReceiptKey[];

/** DER prefixes of the 32 key bytes in PKCS #8 and in SubjectPublicKeyInfo (RFC 8410). */
const PRIVATE_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex');
const PUBLIC_PREFIX = Buffer.from('302a300506032b6570032100', 'hex');

/** Creates the keys from their settings. */
export function makeReceiptKeys(entries: readonly ReceiptKeySetting[]): ReceiptKeys {
  return entries.map(({ kind, bytes, createdAt, retiredAt }) => {
    const privateKey = kind === 'private' ? privateKeyOf(bytes) : null;
    const publicKey = privateKey === null ? publicKeyOf(bytes) : createPublicKey(privateKey);
    return { id: thumbprint(publicKey), publicKey, privateKey, createdAt, retiredAt };
  });
}

/** Returns the key that was in use at a time; the oldest with a private key when all are newer. */
export function signingKey(keys: ReceiptKeys, at: Date): { id: string; privateKey: KeyObject } {
  const able = keys.flatMap(({ id, privateKey, createdAt }) =>
    privateKey === null ? [] : [{ id, privateKey, createdAt }],
  );
  const key = able.find(({ createdAt }) => createdAt === null || createdAt <= at) ?? able.at(-1);
  if (key === undefined) throw new Error('no receipt key can sign');
  return key;
}

const timestamp = z.iso.datetime();
const keyObjectSchema = z.object({
  id: z.string(),
  object: z.literal('receipt_key'),
  algorithm: z.literal('EdDSA'),
  public_key_pem: z.string(),
  status: z.enum(['active', 'retired']),
  created_at: timestamp.nullable(),
  retired_at: timestamp.nullable(),
});
const jwkSchema = z.object({
  kty: z.literal('OKP'),
  crv: z.literal('Ed25519'),
  x: z.string(),
  kid: z.string(),
  use: z.literal('sig'),
  alg: z.literal('EdDSA'),
});

/** Body that is both a list of the interface and a JWK set (RFC 7517). */
export const receiptKeysSchema = z
  .object({
    object: z.literal('list'),
    data: z.array(keyObjectSchema),
    has_more: z.literal(false),
    keys: z.array(jwkSchema),
  })
  .meta({ id: 'ReceiptKeys' });

export function receiptKeysObject(keys: ReceiptKeys): z.infer<typeof receiptKeysSchema> {
  return { object: 'list', data: keys.map(keyObject), has_more: false, keys: keys.map(jwk) };
}

function keyObject(
  { id, publicKey, createdAt, retiredAt }: ReceiptKey,
  index: number,
): z.infer<typeof keyObjectSchema> {
  return {
    id,
    object: 'receipt_key',
    algorithm: 'EdDSA',
    public_key_pem: String(publicKey.export({ type: 'spki', format: 'pem' })),
    status: index === 0 ? 'active' : 'retired',
    created_at: createdAt?.toISOString() ?? null,
    retired_at: retiredAt?.toISOString() ?? null,
  };
}

function jwk({ id, publicKey }: ReceiptKey): z.infer<typeof jwkSchema> {
  return { kty: 'OKP', crv: 'Ed25519', x: pointOf(publicKey), kid: id, use: 'sig', alg: 'EdDSA' };
}

/** Returns the hash of the required members, in lexical order, without white space (RFC 7638). */
function thumbprint(publicKey: KeyObject): string {
  const members = JSON.stringify({ crv: 'Ed25519', kty: 'OKP', x: pointOf(publicKey) });
  return createHash('sha256').update(members).digest('base64url');
}

function pointOf(publicKey: KeyObject): string {
  return publicKey.export({ format: 'jwk' }).x ?? '';
}

function privateKeyOf(seed: Buffer): KeyObject {
  return createPrivateKey({ key: Buffer.concat([PRIVATE_PREFIX, seed]), format: 'der', type: 'pkcs8' });
}

function publicKeyOf(point: Buffer): KeyObject {
  return createPublicKey({ key: Buffer.concat([PUBLIC_PREFIX, point]), format: 'der', type: 'spki' });
}
