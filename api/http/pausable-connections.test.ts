import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { connect } from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import { makeConnectionsPausable } from '#api/http/pausable-connections.ts';
import { makeReceiverCertificates } from '#test/support/receiver-certificates.ts';

const { certificate, key, authority: ca } = makeReceiverCertificates();
/** A response larger than the socket buffers of the system. */
const LARGE = Buffer.alloc(30_000_000, '.');
const BODY = Buffer.alloc(600_000, 'a');

const server = createServer({ cert: certificate, key }, (request, response) => {
  if (request.method === 'GET') response.end(LARGE);
  else void text(request).then((body) => response.end(`${body.length} bytes came`));
});
afterEach(() => {
  server.close();
  server.closeAllConnections();
});

describe('makeConnectionsPausable', () => {
  it('receives a body that arrives while the previous response is unread', async () => {
    makeConnectionsPausable(server);
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    const socket = connect({ port, host: '127.0.0.1', ca, servername: 'localhost' });
    await once(socket, 'secureConnect');
    socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await once(socket, 'readable');
    const head = `POST / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: ${BODY.length}\r\n\r\n`;
    socket.write(Buffer.concat([Buffer.from(head), BODY]));
    // Time for the first part of the body to arrive at the server.
    await delay(300);
    const answers = await text(socket);
    expect(answers.slice(-21)).toBe(`\r\n\r\n${BODY.length} bytes came`);
  });
});
