import { describe, expect, it } from 'vitest';
import { refusal } from '#api/http/refusal.ts';
import { MediaError } from '#crds/contract/media-error.ts';
import type { Log } from '#crds/process/log.ts';

const logged: unknown[] = [];
const log = { info: (fields: unknown) => logged.push(fields), error: (fields: unknown) => logged.push(fields) };
const deps = { log: log as unknown as Log, docsUrl: 'https://media.test/docs' };

describe('refusal', () => {
  it('returns status and error object of a refusal, and waits at least a second', () => {
    const error = new MediaError('rate_limited', 'Wait.', { retryAfterSeconds: 0.2 });
    expect(refusal(deps, { error, requestId: 'req_1' })).toEqual({
      status: 429,
      headers: { 'Retry-After': '1' },
      body: {
        error: {
          type: 'rate_limit_error',
          code: 'rate_limited',
          message: 'Wait.',
          param: null,
          request_id: 'req_1',
          doc_url: 'https://media.test/docs/reference/errors#rate_limited',
        },
      },
    });
  });

  it('returns `internal` for any other error, which only the log names', () => {
    const error = new Error('the secret table is missing');
    const { status, headers, body } = refusal(deps, { error, requestId: 'req_2' });
    expect([status, headers, body.error['code']]).toEqual([500, {}, 'internal']);
    expect(JSON.stringify(body)).not.toContain('secret');
    expect(logged).toContainEqual({ request_id: 'req_2', err: error });
  });
});
