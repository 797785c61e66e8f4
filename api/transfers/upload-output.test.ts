import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openS3Files } from '#api/files/s3-files.ts';
import { claimDueTransfers, runTransfer } from '#api/transfers/run-transfers.ts';
import { selectSettledTransfers } from '#api/transfers/transfer-rows.ts';
import { testCourier } from '#test/support/courier.ts';
import { startReceiver } from '#test/support/receiver.ts';

const courier = await testCourier();
const { database, deps } = courier;

describe('the upload to output.url', () => {
  it("PUTs the output with its type, its length and the caller's headers", async () => {
    const receiver = await startReceiver({ host: '127.0.0.2' });
    const id = await courier.jobWithOutput(`https://127.0.0.2:${receiver.port}/bucket/key?sig=abc`, {
      Authorization: 'Bearer caller',
      'X-Meta': 'é',
    });
    await courier.runDue();
    expect(receiver.received).toHaveLength(1);
    expect(receiver.received[0]).toMatchObject({
      method: 'PUT',
      path: '/bucket/key?sig=abc',
      headers: { 'content-type': 'image/webp', 'content-length': '10', authorization: 'Bearer caller', 'x-meta': 'é' },
      body: Buffer.from('the output'),
    });
    expect(await courier.transferOf(id)).toMatchObject({ done_at: deps.clock.now(), error: null });
    expect(await selectSettledTransfers(database, 10)).toEqual([{ jobId: id, direction: 'deliver', error: null }]);
  });

  it("sends the caller's Content-Type if there is one", async () => {
    const receiver = await startReceiver({ host: '127.0.0.2' });
    await courier.jobWithOutput(`https://127.0.0.2:${receiver.port}/`, { 'content-TYPE': 'application/x-own' });
    await courier.runDue();
    expect(receiver.received[0]?.headers['content-type']).toBe('application/x-own');
  });

  // Promise, Jobs: `output.url`: PUT with the caller's headers; anything but 2xx fails the job
  it.each([200, 201, 204])('succeeds with status %i', async (code) => {
    const receiver = await startReceiver({
      host: '127.0.0.2',
      respond: (response) => void response.writeHead(code).end(),
    });
    const id = await courier.jobWithOutput(`https://127.0.0.2:${receiver.port}/`);
    await courier.runDue();
    expect(await courier.transferOf(id)).toMatchObject({ done_at: deps.clock.now(), error: null });
  });

  // Promise, Jobs: `output.url`: PUT with the caller's headers; anything but 2xx fails the job
  it.each([
    [301, 'redirects are not followed'],
    [307, 'redirects are not followed'],
    [403, 'the response has status 403'],
    [404, 'the response has status 404'],
  ])('fails without a retry at status %i', async (code, problem) => {
    const receiver = await startReceiver({
      host: '127.0.0.2',
      respond: (response) => void response.writeHead(code, { location: '/' }).end(),
    });
    const id = await courier.jobWithOutput(`https://127.0.0.2:${receiver.port}/`);
    await courier.runDue();
    const { attempt, error } = await courier.transferOf(id);
    expect({ attempt, code: error?.code }).toEqual({ attempt: 1, code: 'output_upload_failed' });
    expect(error?.message).toContain(problem);
    expect(receiver.received).toHaveLength(1);
  });

  it('retries a server error up to three times and succeeds if one retry does', async () => {
    let code = 500;
    const receiver = await startReceiver({
      host: '127.0.0.2',
      respond: (response) => void response.writeHead(code).end(),
    });
    const failing = await courier.jobWithOutput(`https://127.0.0.2:${receiver.port}/`);
    for (const seconds of [0, 5, 20, 60]) {
      courier.time += seconds * 1000;
      await courier.runDue();
    }
    expect(await courier.transferOf(failing)).toMatchObject({
      attempt: 4,
      error: {
        code: 'output_upload_failed',
        message: 'The result could not be PUT to `output.url`: the response has status 500.',
      },
    });
    const recovering = await courier.jobWithOutput(`https://127.0.0.2:${receiver.port}/`);
    await courier.runDue();
    code = 204;
    courier.time += 5000;
    await courier.runDue();
    expect(await courier.transferOf(recovering)).toMatchObject({ attempt: 2, error: null, done_at: deps.clock.now() });
  });

  // Promise, Bad input, case by case: `output.url` and its headers
  it('refuses a private address and plain http', async () => {
    const [one, two] = [
      await courier.jobWithOutput('https://127.0.0.1:9/'),
      await courier.jobWithOutput('http://127.0.0.2:9/'),
    ];
    await courier.runDue();
    expect((await courier.transferOf(one)).error?.code).toBe('output_upload_failed');
    expect((await courier.transferOf(two)).error?.message).toContain('must be an https URL');
  });

  it('repeats an uncounted attempt after the bucket closed its connection in the middle of the output', async () => {
    const bucket = createServer((_request, response) => {
      response.writeHead(200, { 'content-length': 10, etag: '"a"' });
      response.write('the ', () => response.destroy());
    });
    await once(bucket.listen(0, '127.0.0.1'), 'listening');
    onTestFinished(() => void bucket.close());
    const files = openS3Files({
      bucket: 'outputs',
      region: 'us-east-1',
      endpoint: `http://127.0.0.1:${(bucket.address() as AddressInfo).port}`,
      pathStyle: true,
      credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
    });
    onTestFinished(() => files.close());
    const receiver = await startReceiver({ host: '127.0.0.2' });
    const id = await courier.jobWithOutput(`https://127.0.0.2:${receiver.port}/`);
    for (const transfer of await claimDueTransfers(deps, 1))
      await runTransfer({ ...deps, files }, transfer, new AbortController().signal);
    expect(await courier.transferOf(id)).toMatchObject({ attempt: 0, lease_until: null, done_at: null, error: null });
    courier.time += 20_000;
    expect(await courier.runDue()).toBe(1);
    expect(await courier.transferOf(id)).toMatchObject({ attempt: 1, done_at: deps.clock.now(), error: null });
  });

  it('fails with an internal error when the output is missing from the file store', async () => {
    const id = await courier.newJob({ target: { url: 'https://127.0.0.2:9/', headers: {} } });
    await courier.runDue();
    expect((await courier.transferOf(id)).error?.code).toBe('internal');
  });
});
