import { describe, expect, it } from 'vitest';
import { receiptKeyRing } from '#crds/process/receipt-key-ring.ts';

const A = Buffer.alloc(32, 1).toString('base64');
const B = Buffer.alloc(32, 2).toString('base64');

describe('the ring of receipt keys', () => {
  it('accepts seeds, public keys and times', () => {
    const ring = receiptKeyRing.parse(
      `${A}@2026-11-21T05:00:00Z, public:${B}@2026-01-01T00:00:00.000Z/2026-11-21T05:00:00Z,${B}`,
    );
    expect(ring).toStrictEqual([
      { kind: 'private', bytes: Buffer.alloc(32, 1), createdAt: new Date('2026-11-21T05:00:00Z'), retiredAt: null },
      {
        kind: 'public',
        bytes: Buffer.alloc(32, 2),
        createdAt: new Date('2026-01-01T00:00:00Z'),
        retiredAt: new Date('2026-11-21T05:00:00Z'),
      },
      { kind: 'private', bytes: Buffer.alloc(32, 2), createdAt: null, retiredAt: null },
    ]);
  });

  it('accepts a public key in base64url, as in a JWK', () => {
    const bytes = Buffer.alloc(32, 255);
    expect(receiptKeyRing.parse(`${A},public:${bytes.toString('base64url')}`)[1]).toMatchObject({
      kind: 'public',
      bytes,
    });
  });

  it.each([
    ['nothing', ''],
    ['31 bytes', Buffer.alloc(31).toString('base64')],
    ['no base64', 'secret'],
    ['no time', `${A}@yesterday`],
    ['no real time', `${A}@2026-13-01T00:00:00Z`],
    ['a public key first', `public:${A}`],
    ['a retired key first', `${A}@2026-01-01T00:00:00Z/2026-02-01T00:00:00Z`],
  ])('refuses %s', (_what, text) => {
    expect(receiptKeyRing.safeParse(text).success).toBe(false);
  });
});
