import { describe, expect, it } from 'vitest';
import { makeReceiptKeys, receiptKeysObject, signingKey } from '#api/receipts/receipt-keys.ts';
import type { ReceiptKeySetting } from '#crds/process/receipt-key-ring.ts';

/** Seed, public key and thumbprint of RFC 8032, 7.1, test 1, and RFC 8037, appendix A. */
const SEED = Buffer.from('9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60', 'hex');
const POINT = '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo';
const THUMBPRINT = 'kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k';

const key = (changes: Partial<ReceiptKeySetting> = {}): ReceiptKeySetting => ({
  kind: 'private',
  bytes: SEED,
  createdAt: null,
  retiredAt: null,
  ...changes,
});
const seed = (byte: number): Buffer => Buffer.alloc(32, byte);
const at = (day: string): Date => new Date(`${day}T00:00:00.000Z`);

describe('receipt keys', () => {
  it('have the public key and the thumbprint of the standard', () => {
    const { data, keys } = receiptKeysObject(makeReceiptKeys([key()]));
    expect(keys).toStrictEqual([{ kty: 'OKP', crv: 'Ed25519', x: POINT, kid: THUMBPRINT, use: 'sig', alg: 'EdDSA' }]);
    expect(data[0]?.id).toBe(THUMBPRINT);
  });

  it('are the same from the seed and from the public key', () => {
    const [fromSeed, fromPoint] = makeReceiptKeys([
      key(),
      key({ kind: 'public', bytes: Buffer.from(POINT, 'base64url') }),
    ]);
    expect(fromPoint?.id).toBe(fromSeed?.id);
    expect(fromPoint?.privateKey).toBeNull();
  });

  it('list the first as active and the others as retired, with their known times', () => {
    const retired = key({ bytes: seed(1), createdAt: at('2026-01-01'), retiredAt: at('2026-06-01') });
    const { data } = receiptKeysObject(
      makeReceiptKeys([key({ createdAt: at('2026-06-01') }), retired, key({ bytes: seed(2) })]),
    );
    expect(data.map(({ status, created_at, retired_at }) => [status, created_at, retired_at])).toStrictEqual([
      ['active', '2026-06-01T00:00:00.000Z', null],
      ['retired', '2026-01-01T00:00:00.000Z', '2026-06-01T00:00:00.000Z'],
      ['retired', null, null],
    ]);
  });
});

describe('the key that signs', () => {
  const newest = key({ bytes: seed(3), createdAt: at('2026-06-01') });
  const older = key({ bytes: seed(2), createdAt: at('2026-03-01'), retiredAt: at('2026-06-01') });
  const oldest = key({ kind: 'public', bytes: seed(1), createdAt: at('2026-01-01'), retiredAt: at('2026-03-01') });
  const keys = makeReceiptKeys([newest, older, oldest]);

  it.each([
    ['after the rotation', '2026-07-01', 0],
    ['at the rotation', '2026-06-01', 0],
    ['before the rotation', '2026-05-31', 1],
    ['while a key was active that can no longer sign', '2026-02-01', 1],
    ['before every key', '2025-01-01', 1],
  ])('is chosen for a job that finished %s', (_when, day, index) => {
    expect(signingKey(keys, at(day)).id).toBe(keys[index]?.id);
  });
});
