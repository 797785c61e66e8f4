import { expect, it } from 'vitest';
import { sendEvent } from '#api/webhooks/send-event.ts';
import type { SafeRequest } from '#crds/shared/safe-fetch.ts';
import { SafeFetchError } from '#crds/shared/safe-fetch-error.ts';

const event = { url: 'https://example.com/', secret: 'whsec_x', eventId: 'evt_1', body: Buffer.from('{}') };
const clock = { now: () => new Date(0) };

it('an attempt has 10 seconds in all and follows no redirect', async () => {
  const asked: SafeRequest[] = [];
  const safeFetch = async (request: SafeRequest): Promise<never> => {
    asked.push(request);
    throw new SafeFetchError('timeout', 'it took longer than 10 seconds');
  };
  expect(await sendEvent({ safeFetch, clock }, event)).toEqual({
    delivered: false,
    status: null,
    error: 'it took longer than 10 seconds',
  });
  expect(asked[0]).toMatchObject({ purpose: 'webhook', totalMs: 10_000, maxRedirects: 0, method: 'POST' });
});

it('a bug is not taken for a failed attempt', async () => {
  const safeFetch = (): Promise<never> => Promise.reject(new TypeError('bug'));
  await expect(sendEvent({ safeFetch, clock }, event)).rejects.toThrow('bug');
});
