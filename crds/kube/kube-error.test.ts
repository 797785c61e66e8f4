import { describe, expect, it } from 'vitest';
import { isRefusal, KubeError, orNull, refusalOf } from '#crds/kube/kube-error.ts';

describe('refusalOf', () => {
  it('returns reason, message and delay of a response', () => {
    const body = JSON.stringify({ kind: 'Status', reason: 'TooManyRequests', message: 'slow down' });
    const error = refusalOf('list jobs', { status: 429, retryAfter: '3', body });
    expect(error).toMatchObject({ status: 429, reason: 'TooManyRequests', retryAfterMs: 3000 });
    expect(error.message).toBe('list jobs: 429 slow down');
  });

  it.each(['<html>bad gateway</html>', '', 'null', '"text"'])(
    'returns the text of a body that is no Status: %j',
    (body) => {
      const error = refusalOf('get x', { status: 502, retryAfter: undefined, body });
      expect(error).toMatchObject({ status: 502, reason: '', retryAfterMs: null, message: `get x: 502 ${body}` });
    },
  );

  it.each([
    ['soon', null],
    ['-5', 0],
  ])('returns for Retry-After: %s the delay %j', (retryAfter, retryAfterMs) => {
    expect(refusalOf('get x', { status: 503, retryAfter, body: '' })).toMatchObject({ retryAfterMs });
  });
});

describe('orNull', () => {
  it('resolves with null for the given statuses only', async () => {
    const refused = (status: number): Promise<string> => Promise.reject(new KubeError('refused', { status }));
    expect(await orNull(Promise.resolve('found'), 404)).toBe('found');
    expect(await orNull(refused(404), 404, 409)).toBeNull();
    await expect(orNull(refused(403), 404, 409)).rejects.toThrow('refused');
    await expect(orNull(Promise.reject(new Error('reset')), 404)).rejects.toThrow('reset');
  });
});

describe('isRefusal', () => {
  it('returns false for an error without a response', () => {
    expect(isRefusal(new KubeError('reset', { status: 0 }), 404)).toBe(false);
    expect(isRefusal(new Error('404'), 404)).toBe(false);
  });
});
