import { open } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { MediaError } from '#crds/contract/media-error.ts';
import { asRefusal } from '#worker-image/engine/file-fault.ts';

describe('asRefusal', () => {
  it('returns processing_failed with the cause for a plain error', () => {
    const error = new Error('the library failed');
    expect(asRefusal(error, 'It failed.')).toMatchObject({
      name: 'MediaError',
      code: 'processing_failed',
      message: 'It failed.',
      cause: error,
    });
  });

  it.each([
    ['a refusal', new MediaError('limit_exceeded', 'too large')],
    ['a bug', new TypeError('x is undefined')],
    ['an aborted operation', new DOMException('aborted', 'AbortError')],
    ['what is no error', 'text'],
  ])('returns %s unchanged', (_what, error) => {
    expect(asRefusal(error, 'It failed.')).toBe(error);
  });

  it('returns an error of the operating system unchanged', async () => {
    const error: unknown = await open('/no/such/file').catch((reason: unknown) => reason);
    expect(asRefusal(error, 'It failed.')).toBe(error);
  });
});
