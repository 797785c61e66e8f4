/**
 * Protection against cross-site request forgery: forms contain a token derived from the browser's cookie, which no
 * other site can read. `Origin` and `Sec-Fetch-Site` are checked too, if the browser sends them.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import { MediaError } from '#crds/contract/media-error.ts';

export const TOKEN_FIELD = 'form_token';

export function formTokenOf(cookie: string): string {
  return createHash('sha256').update(`form ${cookie}`).digest('base64url');
}

interface PostedForm {
  readonly token: string | null;
  readonly expected: string;
  readonly origin: string | undefined;
  readonly fetchSite: string | undefined;
  /** Origins of the dashboard's own pages. */
  readonly own: readonly string[];
}

/** Checks that a form is from a page of the dashboard. @throws MediaError bad_request (403) */
export function checkFormToken({ token, expected, origin, fetchSite, own }: PostedForm): void {
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
