import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { startOwnService } from '#test/crash/own-service.ts';
import { expectNothingLeft } from '#test/crash/running-job.ts';
import { startReceiver, type Received } from '#test/support/receiver.ts';
import { finished, upload } from '#test/support/run-through.ts';

const CSV = Buffer.from('id,name\n0010,Ada\n0011,Grace\n');
const JSON_ROWS = [
  { id: '0010', name: 'Ada' },
  { id: '0011', name: 'Grace' },
];
const toJson = { operation: 'convert', options: { convert: { to: 'json' } } };

const service = await startOwnService();

/** Never answers the first request, and answers the others. */
async function startHolding(respond: (response: ServerResponse, received: Received) => void) {
  const held: ServerResponse[] = [];
  const receiver = await startReceiver({
    respond: (response, received) => {
      if (held.length === 0) held.push(response);
      else respond(response, received);
    },
  });
  return { ...receiver, url: `${receiver.url}/people.csv`, isHolding: () => held.length === 1 };
}

const noContent = (response: ServerResponse): void => void response.writeHead(204).end();
const sendCsv = (response: ServerResponse): void => {
  response.writeHead(200, { 'content-length': CSV.length }).write(CSV.subarray(0, 10));
  response.end(CSV.subarray(10));
};

async function createJob(fields: Record<string, unknown>): Promise<string> {
  const input = fields['input'] ?? { upload: await upload(service.api(), CSV, 'people.csv') };
  const created = await service.api()('POST', '/v1/jobs', { json: { ...toJson, ...fields, input } });
  expect(created.status).toBe(202);
  return String(created.json()['id']);
}

describe('the courier, killed in the middle of a fetch, an upload and a webhook,', () => {
  it('repeats all three, and each job ends once', async () => {
    const [source, target, hook] = [
      await startHolding(sendCsv),
      await startHolding(noContent),
      await startHolding(noContent),
    ];
    const ids = {
      fetched: await createJob({ input: { url: source.url } }),
      uploaded: await createJob({ output: { url: target.url } }),
      notified: await createJob({ webhook_url: hook.url }),
    };
    await expect
      .poll(() => [source, target, hook].map((one) => one.isHolding()), { timeout: 60_000 })
      .toEqual([true, true, true]);
    service.kill('courier');

    const jobs = await Promise.all(Object.values(ids).map((id) => finished(service.api(), id, 150)));
    expect(jobs.map((job) => job['status'])).toEqual(['succeeded', 'succeeded', 'succeeded']);
    const rows = await service.query('select source_id from ledger');
    expect(rows).toHaveLength(3);
    expect(new Set(rows.map((row) => String(row['source_id'])))).toEqual(new Set(Object.values(ids)));

    const response = await service.api()('GET', String(jobs[0]?.['result'].download_url), { key: null });
    expect(response.json()).toEqual(JSON_ROWS);
    expect(target.received.map(({ method, body }) => [method, JSON.parse(body.toString())])).toEqual([
      ['PUT', JSON_ROWS],
      ['PUT', JSON_ROWS],
    ]);
    await expect.poll(() => hook.received.length, { timeout: 60_000 }).toBe(2);
    expect(new Set(hook.received.map(({ headers }) => headers['svc-event-id'])).size).toBe(1);
    expect(new Set(hook.received.map(({ body }) => body.toString())).size).toBe(1);
    await expectNothingLeft(service);
  }, 240_000);
});
