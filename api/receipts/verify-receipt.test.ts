import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { canonicalJson } from '#api/receipts/canonical-json.ts';
import { makeReceiptKeys } from '#api/receipts/receipt-keys.ts';
import { verifyReceipt } from '#api/receipts/verify-receipt.ts';

/** Seed of RFC 8032, 7.1, test 1. */
const SEED = Buffer.from('9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60', 'hex');
const keys = makeReceiptKeys([{ kind: 'private', bytes: SEED, createdAt: null, retiredAt: null }]);

/** Receipt that version 0.1.0 signed. */
const EARLIER =
  'eyJhbGciOiJFZERTQSIsImtpZCI6ImtQcktfcW14VldhWVZBOXd3QkY2SXVvM3ZWeno3VHhIQ1R3WEJ5Z3JTNGsiLCJ0eXAiOiJtZWRpYWpvYnMtcmVjZWlwdCtqd3MifQ.eyJ2ZXJzaW9uIjoxLCJqb2JfaWQiOiJqb2JfMSIsIm9wdGlvbnMiOnsiaW1hZ2UiOnsiZm9ybWF0Ijoid2VicCIsInF1YWxpdHkiOjgwfX0sIm9wdGlvbnNfc2hhMjU2IjoiZjhmZGQxNWYxY2VkMmFjZGI4Y2I3ZDVkOWU4ZGYyNmQ0ZmQ2NzE1Mjk1NmU5NGRlZWFlYTZiYjA2OGYzNGVkNCJ9.glbxvJhjd3yVR_EPA9rV0pBoO-LeM6Xt7bxqqCvSSN0Eeo9_PpqWBbeam9AoQWSf7VCfo1L0kiyzEwAwCgd7DA';

interface SignedOptions {
  readonly options: object;
  readonly options_sha256: string;
}

describe('a receipt', () => {
  it('of an earlier version can be verified, and the hash of its options is unchanged', () => {
    const verified = verifyReceipt(keys, EARLIER);
    const { options, options_sha256: signed } = JSON.parse(verified?.payload ?? '{}') as SignedOptions;
    expect(createHash('sha256').update(canonicalJson(options)).digest('hex')).toBe(signed);
  });

  it('with a changed payload cannot be verified', () => {
    expect(verifyReceipt(keys, EARLIER.replace('.eyJ2', '.eyJ3'))).toBeNull();
  });
});
