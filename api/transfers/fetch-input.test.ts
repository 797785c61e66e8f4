import type { ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { file, MB, rawServer, START, testCourier } from '#test/support/courier.ts';
import { startReceiver, type Received } from '#test/support/receiver.ts';

const courier = await testCourier();
const { files, deps } = courier;

describe('fetch of input.url', () => {
  it('stores the file and records it in the job', async () => {
    const receiver = await startReceiver({ host: '127.0.0.2', respond: file('hello') });
    const id = await courier.newJob({ inputUrl: `https://files.receiver.test:${receiver.port}/a/photo.jpg?sig=1` });
    await courier.runDue();
    const stored = await files.get(`inputs/${id}`);
    expect((await buffer((stored as NonNullable<typeof stored>).body)).toString()).toBe('hello');
    expect(await courier.inputOf(id)).toEqual({
      input_stored: true,
      input_etag: stored?.etag,
      input_filename: 'photo.jpg',
      input_size: 5,
    });
    expect(await courier.transferOf(id)).toMatchObject({
      attempt: 1,
      lease_until: null,
      done_at: deps.clock.now(),
      error: null,
    });
    expect(receiver.received[0]).toMatchObject({
      method: 'GET',
      path: '/a/photo.jpg?sig=1',
      headers: { 'accept-encoding': 'identity' },
    });
    expect(await courier.runDue()).toBe(0);
    expect(await courier.registry.metrics()).toContain(
      'mediajobs_transfer_attempts_total{direction="fetch",outcome="succeeded"} 1',
    );
  });

  // Promise, Settled where the interface leaves it open: `input.url` may be http, on any port
  it('accepts http, the file name of Content-Disposition and an empty file', async () => {
    const respond = file('', { 'content-disposition': "attachment; filename*=UTF-8''caf%C3%A9.csv" });
    const receiver = await startReceiver({ host: '127.0.0.2', tls: false, respond });
    const id = await courier.newJob({ inputUrl: `http://files.receiver.test:${receiver.port}/x` });
    await courier.runDue();
    expect(await courier.inputOf(id)).toMatchObject({ input_stored: true, input_filename: 'café.csv', input_size: 0 });
  });

  // Promise, Jobs: `input.url`: status 200, Content-Length, plan's size, three redirects, no private address
  it('follows at most three redirects and takes the file name from the given URL', async () => {
    const respond = (response: ServerResponse, { path: at }: Received): void => {
      const left = Number(at.slice(1));
      if (left === 0) file('there')(response);
      else response.writeHead(302, { location: `/${left - 1}` }).end();
    };
    const receiver = await startReceiver({ host: '127.0.0.2', respond });
    const [three, four] = [
      await courier.newJob({ inputUrl: `https://127.0.0.2:${receiver.port}/3` }),
      await courier.newJob({ inputUrl: `https://127.0.0.2:${receiver.port}/4` }),
    ];
    await courier.runDue();
    expect(await courier.inputOf(three)).toMatchObject({ input_stored: true, input_filename: '3' });
    expect((await courier.transferOf(four)).error).toEqual({
      code: 'input_fetch_failed',
      message: '`input.url` could not be fetched: it was redirected more than 3 times.',
    });
  });

  // Promise, Jobs: `input.url`: status 200, Content-Length, plan's size, three redirects, no private address
  // Promise, Bad input, case by case: `input.url` that cannot be fetched, also with a wrong Content-Length
  it.each([
    ['HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n', 'the response has status 404'],
    ['HTTP/1.1 206 Partial Content\r\nContent-Length: 2\r\n\r\nhi', 'the response has status 206'],
    ['HTTP/1.1 304 Not Modified\r\n\r\n', 'the response has status 304 without a Location'],
    ['HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n', 'the response has no Content-Length'],
    ['HTTP/1.1 200 OK\r\n\r\nhi', 'the response has no Content-Length'],
    [
      `HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi${'!'.repeat(2000)}`,
      'the response has more bytes than its Content-Length',
    ],
    ['HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nhi!', 'the response has more bytes than its Content-Length'],
    ['HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Encoding: gzip\r\n\r\nhi', 'Content-Encoding'],
    [
      `HTTP/1.1 200 OK\r\nContent-Length: ${100 * MB + 1}\r\n\r\nhi`,
      'the file has 104857601 bytes; the plan allows 104857600',
    ],
  ])('fails without a retry at the response %j', async (response, problem) => {
    const id = await courier.newJob({ inputUrl: `http://127.0.0.2:${await rawServer(response)}/` });
    await courier.runDue();
    const { attempt, done_at, error } = await courier.transferOf(id);
    expect({ attempt, done_at, code: error?.code }).toEqual({
      attempt: 1,
      done_at: deps.clock.now(),
      code: 'input_fetch_failed',
    });
    expect(error?.message).toContain(problem);
    expect(await courier.inputOf(id)).toMatchObject({ input_stored: false });
    expect(await files.head(`inputs/${id}`)).toBeNull();
  });

  it.each([
    ['http://private.receiver.test:9/', 'resolves to an address that is not public'],
    ['http://127.0.0.1:9/', 'not an IP address'],
    ['http://8.8.8.8/', 'not an IP address'],
    ['http://169.254.169.254/latest/meta-data/', 'not an IP address'],
  ])('refuses %s without a retry', async (url, problem) => {
    const id = await courier.newJob({ inputUrl: url });
    await courier.runDue();
    const { attempt, error } = await courier.transferOf(id);
    expect({ attempt, code: error?.code }).toEqual({ attempt: 1, code: 'input_fetch_failed' });
    expect(error?.message).toContain(problem);
  });

  // Promise, Bad input, case by case: `input.url` that cannot be fetched, also with a wrong Content-Length
  it.each([
    ['an error of the server', 'HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n', 'the response has status 503'],
    [
      'fewer bytes than announced',
      'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf',
      'the connection closed before the response was complete',
    ],
    [
      'fewer bytes than announced on a connection without keep-alive',
      'HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 10\r\n\r\nhalf',
      'the connection closed before the response was complete',
    ],
    ['no response', '', 'the connection closed before the response was complete'],
  ])('makes three attempts within a minute after %s', async (_what, response, problem) => {
    const id = await courier.newJob({ inputUrl: `http://127.0.0.2:${await rawServer(response)}/` });
    await courier.runDue();
    expect(await courier.transferOf(id)).toMatchObject({ attempt: 1, next_at: new Date(START + 5000), done_at: null });
    courier.time += 5000;
    await courier.runDue();
    expect(await courier.transferOf(id)).toMatchObject({
      attempt: 2,
      next_at: new Date(START + 25_000),
      done_at: null,
    });
    courier.time += 20_000;
    await courier.runDue();
    const { attempt, error } = await courier.transferOf(id);
    expect({ attempt, error }).toEqual({
      attempt: 3,
      error: { code: 'input_fetch_failed', message: `\`input.url\` could not be fetched: ${problem}.` },
    });
    expect(await files.head(`inputs/${id}`)).toBeNull();
  });

  // Promise, Jobs: `input.url`: status 200, Content-Length, plan's size, three redirects, no private address
  it('accepts a larger file on a larger plan', async () => {
    const receiver = await startReceiver({
      host: '127.0.0.2',
      respond: (response) => void response.writeHead(200, { 'content-length': 101 * MB }).end(Buffer.alloc(101 * MB)),
    });
    const id = await courier.newJob({
      inputUrl: `https://127.0.0.2:${receiver.port}/`,
      owner: await courier.newAccount('payg'),
    });
    await courier.runDue();
    expect(await courier.inputOf(id)).toMatchObject({ input_stored: true, input_size: 101 * MB });
    await files.delete(`inputs/${id}`);
  });
});
