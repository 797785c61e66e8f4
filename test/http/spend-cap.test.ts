import { describe, expect, it } from 'vitest';
import { noise } from '#test/fixtures/noise.ts';
import { useService } from '#test/support/use-service.ts';

const { service, api, makeAccount } = await useService();

const photo = await noise(300, 200).jpeg({ quality: 97 }).toBuffer();

describe('the spend cap', () => {
  // Promise, Limits and versions: Spend cap: one request under it, running work at its maximum cost, reset by month
  it('that covers 3 images admits 3 of 50 parallel direct requests', async () => {
    const { account, live } = await makeAccount('growth');
    await service.mediactl('account', 'set', account, '--spend-cap', '0.006');
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => api('POST', '/v1/compress?filename=a.jpg', { key: live, body: photo })),
    );
    const refused = answers.filter(({ status }) => status !== 200);
    expect(answers.length - refused.length).toBe(3);
    expect(refused.map((response) => response.json()['error'].code)).toEqual(Array(47).fill('spend_cap_reached'));
    const usage = (await api('GET', '/v1/usage', { key: live })).json();
    expect(usage['totals']).toMatchObject({ requests: 3, amount_usd: 0.006 });
    expect(await service.query('select 1 from direct_reservations where account_id = $1', [account])).toEqual([]);
  });

  it('counts a running direct request at its maximum cost, by its first bytes when it has no name', async () => {
    const { account, live } = await makeAccount('growth');
    await service.mediactl('account', 'set', account, '--spend-cap', '0.006');
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => api('POST', '/v1/compress', { key: live, body: photo })),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(3);
    const message = answers.find(({ status }) => status === 402)?.json()['error'].message;
    expect(message).toMatch(/running work may cost up to \$/);
  });

  it('releases the reservation when the file fails', async () => {
    const { account, live } = await makeAccount('growth');
    await service.mediactl('account', 'set', account, '--spend-cap', '0.002');
    const failed = await api('POST', '/v1/compress?filename=a.jpg', {
      key: live,
      body: Buffer.from('no picture at all'),
    });
    expect(failed.status).toBe(415);
    expect((await api('POST', '/v1/compress?filename=a.jpg', { key: live, body: photo })).status).toBe(200);
    expect(await service.query('select 1 from direct_reservations where account_id = $1', [account])).toEqual([]);
  });

  it('refuses new jobs, and no repetition of the request for an earlier one', async () => {
    const { account, live } = await makeAccount('growth');
    const send = (idempotencyKey: string) =>
      api('POST', '/v1/jobs', {
        key: live,
        json: { operation: 'compress', input: { url: 'https://files.invalid/a.jpg' } },
        headers: { 'Idempotency-Key': idempotencyKey },
      });
    const first = await send('a');
    expect(first.status).toBe(202);
    await service.mediactl('account', 'set', account, '--spend-cap', '0');
    const [other, repeated] = [await send('b'), await send('a')];
    expect(other.json()['error'].code).toBe('spend_cap_reached');
    expect([repeated.status, repeated.headers['svc-idempotent-replayed']]).toEqual([202, 'true']);
    expect(repeated.json()['id']).toBe(first.json()['id']);
  });
});
