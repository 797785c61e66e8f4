import { expect, it } from 'vitest';
import { sendEvent } from '#api/webhooks/send-event.ts';
import type { SafeRequest } from '#api/outbound/safe-fetch.ts';
import { SafeFetchError } from '#api/outbound/safe-fetch-error.ts';

const event = { url: 'https://example.com/', secret: 'whsec_x', eventId: 'evt_1', body: Buffer.from('{}') };
const clock = { now: () => new Date(0) };

// Promise, Events: Any 2xx within 10 seconds is success; redirects fail; the body is not awaited
it('sendEvent limits an attempt to 10 seconds and follows no redirect', async () => {
  const requests: SafeRequest[] = [];
  const safeFetch = async (request: SafeRequest): Promise<never> => {
    requests.push(request);
    throw new SafeFetchError('timeout', 'it took longer than 10 seconds');
  };
  expect(await sendEvent({ safeFetch, clock }, event)).toEqual({
    delivered: false,
    status: null,
    error: 'it took longer than 10 seconds',
  });
  expect(requests[0]).toMatchObject({ purpose: 'webhook', totalMs: 10_000, maxRedirects: 0, method: 'POST' });
});

it('sendEvent rethrows errors other than SafeFetchError', async () => {
  const safeFetch = (): Promise<never> => Promise.reject(new TypeError('bug'));
  await expect(sendEvent({ safeFetch, clock }, event)).rejects.toThrow('bug');
});
