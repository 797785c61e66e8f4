/**
 * Setting with the keys of receipts, newest first, comma-separated: `base64[@created[/retired]]`. The base64 is the
 * 32-byte seed of an Ed25519 private key. A retired key that no longer signs may be the 32-byte public key, as
 * `public:base64` (the `x` of its published JWK). Times are ISO 8601 in UTC, such as `2026-01-31T00:00:00Z`; a retired
 * key has both, if known.
 */
import { z } from 'zod';

export interface ReceiptKeySetting {
  readonly kind: 'private' | 'public';
  /** 32 bytes: the seed of the private key, or the public key. */
  readonly bytes: Buffer;
  readonly createdAt: Date | null;
  readonly retiredAt: Date | null;
}

const TIME = String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,3})?Z`;
const ENTRY = new RegExp(String.raw`^(public:)?([A-Za-z0-9+/_-]{43}=?)(?:@(${TIME})(?:/(${TIME}))?)?$`);

export const receiptKeyRing = z
  .string()
  .transform((text) => text.split(',').map((entry) => entry.trim()))
  .transform((entries) => entries.filter((entry) => entry !== '').map((entry) => parseEntry(entry)))
  .pipe(
    z
      .array(
        z.custom<ReceiptKeySetting>(
          (entry) => entry !== null,
          'each entry must be base64[@created[/retired]] with 32 bytes',
        ),
      )
      .min(1, 'it must hold a key')
      .refine(
        ([first]) => first?.kind === 'private' && first.retiredAt === null,
        'the first key signs: it must be private and not retired',
      ),
  );

function parseEntry(entry: string): ReceiptKeySetting | null {
  const [, isPublic, base64, created, retired] = ENTRY.exec(entry) ?? [];
  if (base64 === undefined) return null;
  const [createdAt, retiredAt] = [timeOf(created), timeOf(retired)];
  if (createdAt === undefined || retiredAt === undefined) return null;
  return {
    kind: isPublic === undefined ? 'private' : 'public',
    bytes: Buffer.from(base64, 'base64'),
    createdAt,
    retiredAt,
  };
}

/** Parses a time. Returns null for an absent text and undefined for an invalid one. */
function timeOf(text: string | undefined): Date | null | undefined {
  if (text === undefined) return null;
  const time = new Date(text);
  return Number.isNaN(time.getTime()) ? undefined : time;
}
