/** Cookies of the dashboard: HTTPS only, not for scripts, this host only (`__Host-`), not sent with requests of other sites. */

export const SESSION_COOKIE = '__Host-mediajobs_session';
/** Of a browser that is not signed in; its forms are bound to it. */
export const VISITOR_COOKIE = '__Host-mediajobs_visitor';
/** A sign-in at the identity provider that is under way. */
export const PROVIDER_COOKIE = '__Host-mediajobs_provider';

/** Without `seconds` it goes with the browser's session; 0 removes it. */
export function setCookie(name: string, value: string, seconds?: number): string {
  const age = seconds === undefined ? '' : `; Max-Age=${seconds}`;
  return `${name}=${value}; Path=/; Secure; HttpOnly; SameSite=Lax${age}`;
}

/** The first one of each name. */
export function readCookies(header: string | undefined): ReadonlyMap<string, string> {
  const read = new Map<string, string>();
  for (const pair of (header ?? '').split(';')) {
    const at = pair.indexOf('=');
    const name = pair.slice(0, at).trim();
    if (at > 0 && !read.has(name)) read.set(name, pair.slice(at + 1).trim());
  }
  return read;
}
