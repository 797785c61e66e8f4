/**
 * Storage of callers' URLs. Many contain a token (`https://hooks.example/T0ken`), so a row stores them encrypted and,
 * for lists, shortened. Rows from before the encryption store them in plain text. So do rows of the first day after the
 * upgrade: `api/store/migrations/0008-sealed-urls.sql`.
 */
import { withAsciiHost } from '#api/outbound/public-url.ts';
import type { SecretBox } from '#api/store/secret-box.ts';

/** URL to store. */
export interface NewUrl {
  /** Stored only while processes of the previous version may run. */
  readonly plainUrl: string;
  readonly sealedUrl: Buffer;
  readonly shownUrl: string;
}

/** URL as read from a row: at least one field is not null. */
export interface StoredUrl {
  readonly plainUrl: string | null;
  readonly sealedUrl: Buffer | null;
}

/** Contexts that the encryption of a URL is bound to, by where it is stored. */
export const urlContext = {
  endpoint: (id: string): string => `webhook-endpoint-url:${id}`,
  delivery: (eventId: string): string => `webhook-delivery-url:${eventId}`,
  ping: (eventId: string): string => `webhook-ping-url:${eventId}`,
  job: (id: string): string => `job-webhook-url:${id}`,
} as const;

/** Encrypts and shortens a URL, with its host in ASCII. */
export function sealUrl(secretBox: Pick<SecretBox, 'seal'>, sent: string, context: string): NewUrl {
  const url = withAsciiHost(sent);
  return { plainUrl: url, sealedUrl: secretBox.seal(url, context), shownUrl: shortenUrl(url) };
}

/** Decrypts a stored URL. Its host is in ASCII, also in rows of earlier versions. @throws SecretBoxError */
export function openUrl(
  secretBox: Pick<SecretBox, 'open'>,
  { plainUrl, sealedUrl }: StoredUrl,
  context: string,
): string {
  if (sealedUrl !== null) return withAsciiHost(secretBox.open(sealedUrl, context));
  if (plainUrl === null) throw new Error(`there is no URL for ${context}`);
  return withAsciiHost(plainUrl);
}

/** Maximum number of characters of the path that lists show. */
const SHOWN_CHARACTERS = 4;

/**
 * Returns scheme, host and the beginning of the path with an ellipsis: `https://hooks.example/T0…`. Includes at most
 * half of the path, so that no short token is complete, and nothing of the query.
 */
export function shortenUrl(url: string): string {
  const parsed = URL.parse(url);
  if (parsed === null) return '…';
  const rest = parsed.pathname.slice(1);
  const isWhole = rest === '' && parsed.search === '' && parsed.hash === '';
  const shown = rest.slice(0, Math.min(SHOWN_CHARACTERS, Math.floor(rest.length / 2)));
  return `${parsed.protocol}//${parsed.host}/${isWhole ? '' : `${shown}…`}`;
}
