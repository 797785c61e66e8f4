/** An API that is stopped, as in a rolling restart: requests on open connections are still answered. */
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { connect } from 'node:tls';
import { expect, it } from 'vitest';
import { startOwnService } from '#test/crash/own-service.ts';

const service = await startOwnService();
const { hostname, port } = new URL(service.baseUrl());
const open = () => connect({ host: hostname, port: Number(port), rejectUnauthorized: false });

it('serves a request on a connection that was open before, and closes it', async () => {
  const connection = open();
  await once(connection, 'secureConnect');
  const api = service.processes().find(({ role }) => role === 'api');
  process.kill(api?.pid ?? 0, 'SIGTERM');
  await expect.poll(takesConnections, { timeout: 30_000 }).toBe(false);
  connection.write('GET /v1/jobs HTTP/1.1\r\nHost: a\r\n\r\n');
  const [head = '', body = ''] = (await text(connection)).split('\r\n\r\n');
  expect(head).toMatch(/^HTTP\/1\.1 401 /);
  expect(head.toLowerCase()).toContain('connection: close');
  expect(JSON.parse(body)).toMatchObject({ error: { type: 'authentication_error' } });
});

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
