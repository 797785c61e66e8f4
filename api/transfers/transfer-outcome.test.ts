import { describe, expect, it } from 'vitest';
import { SafeFetchError } from '#api/outbound/safe-fetch-error.ts';
import { failedBy, failedWithStatus } from '#api/transfers/transfer-outcome.ts';

describe('failedWithStatus', () => {
  it.each([
    [408, true],
    [425, true],
    [429, true],
    [500, true],
    [599, true],
    [301, false],
    [404, false],
    [410, false],
  ])('of %i is transient: %s', (status, isTransient) => {
    expect(failedWithStatus(status)).toEqual({
      outcome: 'failed',
      problem: `the response has status ${status}`,
      isTransient,
    });
  });
});

describe('failedBy', () => {
  it('returns the problem of a failed request', () => {
    const error = new SafeFetchError('timeout', 'no data was transferred for 30 seconds');
    expect(failedBy(error)).toMatchObject({ outcome: 'failed', problem: error.message });
  });

  it('throws any other error, which is a bug', () => {
    const bug = new TypeError('x is undefined');
    expect(() => failedBy(bug)).toThrow(bug);
  });
});
