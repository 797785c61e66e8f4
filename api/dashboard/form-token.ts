/**
 * Proof that a form was on a page of ours: derived from the browser's cookie, which no other site can read. Browsers
 * also say which site a request comes from, and that is believed when it speaks against us.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import { MediaError } from '#crds/media-error.ts';

export const TOKEN_FIELD = 'form_token';

export function formTokenOf(cookie: string): string {
  return createHash('sha256').update(`form ${cookie}`).digest('base64url');
}

interface Posted {
  readonly token: string | null;
  readonly expected: string;
  readonly origin: string | undefined;
  readonly fetchSite: string | undefined;
  /** Origin of the dashboard's own pages. */
  readonly own: readonly string[];
}

/** @throws MediaError bad_request (403) when the form is not from one of our pages. */
export function checkFormToken({ token, expected, origin, fetchSite, own }: Posted): void {
  const isOwnSite = fetchSite === undefined || fetchSite === 'same-origin' || fetchSite === 'none';
  const isOwnOrigin = origin === undefined || own.includes(origin);
  const [given, wanted] = [Buffer.from(token ?? ''), Buffer.from(expected)];
  if (isOwnSite && isOwnOrigin && given.length === wanted.length && timingSafeEqual(given, wanted)) return;
  throw new MediaError(
    'bad_request',
    'The form has expired, or did not come from this dashboard. Nothing was changed. Open the page again and repeat it.',
    { status: 403 },
  );
}
