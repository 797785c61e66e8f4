import { describe, expect, it } from 'vitest';
import { KubeError } from '#crds/kube/kube-error.ts';
import { expired, isTooNew, restartReason, retryAfterMs } from '#crds/kube/watch-errors.ts';

describe('restartReason', () => {
  it.each([
    ['ended', 'the server ended the watch', null],
    ['broken', 'the connection was reset', new Error('ECONNRESET')],
    ['broken', 'there was no response', new KubeError('no response', { status: 0 })],
    ['silent', 'no byte arrived for too long', new KubeError('silent', { status: 0, reason: 'Silent' })],
    ['refused', 'the server refused the watch', new KubeError('too many', { status: 429 })],
    ['expired', 'the version was compacted', new KubeError('gone', { status: 410 })],
    ['expired', 'the server says Gone', new KubeError('gone', { status: 0, reason: 'Gone' })],
    ['expired', 'the server sent an ERROR event', expired({ code: 500, message: 'etcd' })],
  ])('returns %s when %s', (reason, _what, error) => {
    expect(restartReason(error)).toBe(reason);
  });
});

describe('isTooNew', () => {
  it.each([
    [true, new KubeError('timeout', { status: 504 })],
    [true, new Error('Too large resource version: 7, current: 5')],
    [false, new KubeError('gone', { status: 410 })],
    [false, new Error('ECONNRESET')],
  ])('returns %s for %s', (expected, error) => {
    expect(isTooNew(error)).toBe(expected);
  });
});

describe('retryAfterMs', () => {
  it('returns the delay of Retry-After, and 0 without one', () => {
    expect(retryAfterMs(new KubeError('too many', { status: 429, retryAfterMs: 2000 }))).toBe(2000);
    expect(retryAfterMs(new KubeError('too many', { status: 429 }))).toBe(0);
    expect(retryAfterMs(new Error('ECONNRESET'))).toBe(0);
  });
});
