import { describe, expect, it } from 'vitest';
import { MediaError, toJobError } from '#crds/contract/media-error.ts';

describe('MediaError', () => {
  it('has type, status and Retry-After of its code', () => {
    expect(new MediaError('rate_limited', 'Slow down.')).toMatchObject({
      type: 'rate_limit_error',
      status: 429,
      retryAfterSeconds: 1,
      param: null,
    });
    expect(new MediaError('canceled', 'Canceled.')).toMatchObject({ status: null, retryAfterSeconds: null });
  });

  it('has given details in place of those of its code', () => {
    const details = { param: 'size', status: 405, retryAfterSeconds: 7 };
    expect(new MediaError('bad_request', 'Wrong method.', details)).toMatchObject(details);
  });
});

describe('toJobError', () => {
  // Promise, Conventions and objects: The error of a job has type, code and message only
  it('returns type, code and message of a refusal', () => {
    const error = new MediaError('encrypted_pdf', 'The PDF needs a password.', { param: 'file' });
    expect(toJobError(error)).toEqual({
      type: 'processing_error',
      code: 'encrypted_pdf',
      message: 'The PDF needs a password.',
    });
  });

  it.each([new Error('password of the database'), 'text', null])('shows no details of a bug', (bug) => {
    const error = toJobError(bug);
    expect(error).toMatchObject({ type: 'api_error', code: 'internal' });
    expect(error.message).not.toMatch(/database|text/);
  });
});
