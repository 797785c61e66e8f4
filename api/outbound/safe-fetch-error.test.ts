import { describe, expect, it } from 'vitest';
import { SafeFetchError, toSafeFetchError, type SafeFetchReason } from '#api/outbound/safe-fetch-error.ts';

const withCode = (code: string, cause?: unknown): Error =>
  Object.assign(new Error('10.0.0.7 failed', { cause }), { code });

describe('an error of a request to a caller’s address', () => {
  it.each<[string, SafeFetchReason, boolean]>([
    ['ENOTFOUND', 'name_not_found', true],
    ['EAI_AGAIN', 'name_not_found', true],
    ['CERT_HAS_EXPIRED', 'certificate', false],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'certificate', false],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'certificate', false],
    ['ERR_SSL_WRONG_VERSION_NUMBER', 'connection_failed', true],
    ['UND_ERR_CONNECT_TIMEOUT', 'timeout', true],
    ['HPE_INVALID_CONSTANT', 'bad_response', true],
    ['UND_ERR_HEADERS_OVERFLOW', 'bad_response', true],
    ['UND_ERR_RES_CONTENT_LENGTH_MISMATCH', 'connection_failed', true],
    ['ECONNREFUSED', 'connection_failed', true],
    ['ECONNRESET', 'connection_failed', true],
    ['ESOMETHINGELSE', 'connection_failed', true],
  ])('%s is %s', (code, reason, isTransient) => {
    const error = toSafeFetchError(withCode(code));
    expect(error).toMatchObject({ reason, isTransient });
    expect(error.message).not.toContain('10.0.0.7');
  });

  it('is that of the socket inside of the one that undici wraps it in', () => {
    expect(toSafeFetchError(withCode('UND_ERR_SOCKET', withCode('ECONNREFUSED'))).message).toBe(
      'the host did not accept a connection',
    );
  });

  it('without a code is recognized by its name', () => {
    expect(toSafeFetchError(Object.assign(new Error('x'), { name: 'HTTPParserError' })).reason).toBe('bad_response');
  });

  it('that is known already is returned unchanged', () => {
    const error = new SafeFetchError('forbidden_address', 'the address is private');
    expect(toSafeFetchError(error)).toBe(error);
    expect(error.isTransient).toBe(false);
  });
});
