import { createServer } from 'node:https';
import { connect, type AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { refusePlainHttp } from '#api/http/refuse-malformed.ts';
import { makeReceiverCertificates } from '#test/support/receiver-certificates.ts';

const { certificate, key } = makeReceiverCertificates();
const server = createServer({ cert: certificate, key }, (_request, response) => response.end());
refusePlainHttp({ newId: () => 'req_00000000000000000000', log: {} as never, docsUrl: 'https://docs.test' }, server);
beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
afterAll(() => new Promise((resolve) => server.close(resolve)));

function answerTo(bytes: string): Promise<string> {
  return new Promise((resolve) => {
    let answer = '';
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1', () => socket.write(bytes));
    socket.on('data', (chunk) => (answer += String(chunk)));
    socket.on('error', () => undefined);
    socket.once('close', () => resolve(answer));
  });
}

describe('plain http on the HTTPS port', () => {
  it.each(['GET', 'POST', 'PUT', 'HEAD'])('%s is refused with the error object', async (method) => {
    const answer = await answerTo(`${method} /v1/jobs HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    const [head = '', body = ''] = answer.split('\r\n\r\n');
    expect(head).toMatch(/^HTTP\/1\.1 403 Forbidden\r\nSvc-Request-Id: req_00000000000000000000\r\n/);
    expect(JSON.parse(body).error).toMatchObject({
      type: 'permission_error',
      code: 'https_required',
      request_id: 'req_00000000000000000000',
    });
  });

  it('other bytes that are no TLS get no answer', async () => {
    expect(await answerTo('\0\0nothing that anybody speaks\r\n\r\n')).not.toContain('HTTP/1.1');
  });
});
