import { describe, expect, it } from 'vitest';
import { readSessionCookie, sessionCookie } from '#api/dashboard/cookies.ts';

describe('the session cookie', () => {
  it('is limited to HTTPS and this host, invisible to scripts and removed when the browser closes', () => {
    expect(sessionCookie('abc')).toBe('__Host-mediajobs_session=abc; Path=/; Secure; HttpOnly; SameSite=Lax');
    expect(sessionCookie(null)).toContain('=; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age=0');
  });

  it.each([
    ['alone', '__Host-mediajobs_session=abc', 'abc'],
    ['among others', 'a=1; __Host-mediajobs_session=abc;b=2', 'abc'],
    ['absent', 'a=1', null],
    ['no header', undefined, null],
    ['empty', '__Host-mediajobs_session=', null],
    ['without the prefix', 'mediajobs_session=abc', null],
    ['with another spelling', '__host-mediajobs_session=abc', null],
    ['twice, so that another one might be slipped in', '__Host-mediajobs_session=a; __Host-mediajobs_session=b', null],
  ])('is parsed from a header: %s', (_what, header, token) => {
    expect(readSessionCookie(header)).toBe(token);
  });
});
