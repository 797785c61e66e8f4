/** An API that is stopped, as in a rolling restart: requests on open connections are still answered. */
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { connect, type TLSSocket } from 'node:tls';
import { expect, it } from 'vitest';
import { startOwnService } from '#test/crash/own-service.ts';

const service = await startOwnService({ MEDIAJOBS_STOP_DELAY_SECONDS: '3' });
const { hostname, port } = new URL(service.baseUrl());
const REQUEST = 'GET /v1/jobs HTTP/1.1\r\nHost: a\r\n\r\n';
const open = () => connect({ host: hostname, port: Number(port), rejectUnauthorized: false });

it('serves new and open connections during its delay, then those that are open, and closes each', async () => {
  const [connection, other] = [open(), open()];
  await Promise.all([once(connection, 'secureConnect'), once(other, 'secureConnect')]);
  other.write(REQUEST);
  expect(String(await once(other, 'data'))).not.toContain('close');
  const api = service.processes().find(({ role }) => role === 'api');
  process.kill(api?.pid ?? 0, 'SIGTERM');
  await expect.poll(requestOnNewConnection).toContain('connection: close');
  await expectServed(other);
  await expect.poll(takesConnections, { timeout: 30_000 }).toBe(false);
  await expectServed(connection);
});

async function requestOnNewConnection(): Promise<string> {
  const connection = open();
  connection.write(REQUEST);
  const [data] = await once(connection, 'data');
  connection.destroy();
  return String(data).toLowerCase();
}

/** Expects a response to a request, and the end of the connection after it. */
async function expectServed(connection: TLSSocket): Promise<void> {
  connection.write(REQUEST);
  const [head = '', body = ''] = (await text(connection)).split('\r\n\r\n');
  expect(head).toMatch(/^HTTP\/1\.1 401 /);
  expect(head.toLowerCase()).toContain('connection: close');
  expect(JSON.parse(body)).toMatchObject({ error: { type: 'authentication_error' } });
}

async function takesConnections(): Promise<boolean> {
  const connection = open();
  try {
    await once(connection, 'secureConnect');
    return true;
  } catch {
    return false;
  } finally {
    connection.destroy();
  }
}
