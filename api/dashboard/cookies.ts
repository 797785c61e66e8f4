/**
 * The only cookie of the dashboard: limited to HTTPS and this host (`__Host-`), invisible to scripts, not sent with
 * cross-site form posts. Its token identifies a session if the browser is signed in; forms are bound to it in any case.
 * Signing in and out replaces it.
 */

export const SESSION_COOKIE = '__Host-mediajobs_session';

/** Returns the `Set-Cookie` value that sets the token until the browser closes, or removes the cookie for null. */
export function sessionCookie(token: string | null): string {
  return `${SESSION_COOKIE}=${token ?? ''}; Path=/; Secure; HttpOnly; SameSite=Lax${token === null ? '; Max-Age=0' : ''}`;
}

/** Returns the cookie's token; null if it is absent or repeated, so that an injected cookie cannot replace it. */
export function readSessionCookie(header: string | undefined): string | null {
  const values = (header ?? '').split(';').flatMap((pair) => {
    const at = pair.indexOf('=');
    return pair.slice(0, at).trim() === SESSION_COOKIE ? [pair.slice(at + 1).trim()] : [];
  });
  const [token, ...more] = values;
  return token === undefined || token === '' || more.length > 0 ? null : token;
}
