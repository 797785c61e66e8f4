import { once } from 'node:events';
import { createServer } from 'node:https';
import { connect, type AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { refuseFailedHandshake } from '#api/http/refuse-malformed.ts';
import { makeReceiverCertificates } from '#test/support/receiver-certificates.ts';

const { certificate, key } = makeReceiverCertificates();
const server = createServer({ cert: certificate, key }, (_request, response) => response.end());
refuseFailedHandshake(
  { newId: () => 'req_00000000000000000000', log: {} as never, docsUrl: 'https://docs.test' },
  server,
);
beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
afterAll(() => new Promise((resolve) => server.close(resolve)));

function responseTo(bytes: string): Promise<string> {
  return new Promise((resolve) => {
    let response = '';
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1', () => socket.write(bytes));
    socket.on('data', (chunk) => (response += String(chunk)));
    socket.on('error', () => undefined);
    socket.once('close', () => resolve(response));
  });
}

describe('plain http on the HTTPS port', () => {
  // Promise, What the service does: Plain http is refused, and the key recorded as exposed; on the HTTPS port it is refused too
  it.each(['GET', 'POST', 'PUT', 'HEAD'])('refuses %s with the error object', async (method) => {
    const response = await responseTo(`${method} /v1/jobs HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    const [head = '', body = ''] = response.split('\r\n\r\n');
    expect(head).toMatch(/^HTTP\/1\.1 403 Forbidden\r\nSvc-Request-Id: req_00000000000000000000\r\n/);
    expect(JSON.parse(body).error).toMatchObject({
      type: 'permission_error',
      code: 'https_required',
      request_id: 'req_00000000000000000000',
    });
  });

  it('disconnects a client that keeps its side open', async () => {
    const { port } = server.address() as AddressInfo;
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true }, () =>
      socket.write('GET / HTTP/1.1\r\n\r\n'),
    );
    socket.on('error', () => undefined).resume();
    await once(socket, 'end');
    // The client's side stays open, so only the server can close the connection.
    const writing = setInterval(() => socket.write('x'), 50);
    await new Promise((resolve) => void socket.once('close', resolve));
    clearInterval(writing);
  });

  it('closes the connection after other bytes that are not TLS, without a response', async () => {
    expect(await responseTo('\0\0nothing that anybody speaks\r\n\r\n')).not.toContain('HTTP/1.1');
  });
});
