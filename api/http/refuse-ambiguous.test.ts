import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import { refuseAmbiguous } from '#api/http/refuse-ambiguous.ts';

const HOST = ['Host', 'media.example'];
const request = (rawHeaders: readonly string[], more: { url?: string; httpVersion?: string } = {}) =>
  ({ url: '/v1/jobs', httpVersion: '1.1', rawHeaders, ...more }) as IncomingMessage;

describe('refuseAmbiguous', () => {
  it.each([
    ['a host with a port', request(['Host', 'media.example:8443'])],
    ['an IPv6 host', request(['host', '[::1]:8443'])],
    ['HTTP/1.0 without a host', request([], { httpVersion: '1.0' })],
    ['a chunked body', request([...HOST, 'Transfer-Encoding', 'Chunked'])],
    ['a URL with the host of the header', request(HOST, { url: 'HTTPS://Media.Example/v1/jobs' })],
    ['an underscore in the name of another header', request([...HOST, 'My_Header', '1'])],
  ])('admits %s', (_what, admitted) => {
    expect(() => refuseAmbiguous(admitted)).not.toThrow();
  });

  it.each([
    ['another version', request(HOST, { httpVersion: '2.0' }), null],
    [
      'an underscore in the name of a known header',
      request([...HOST, 'Transfer_Encoding', 'chunked']),
      'transfer_encoding',
    ],
    ['another transfer coding', request([...HOST, 'Transfer-Encoding', 'gzip, chunked']), 'Transfer-Encoding'],
    [
      'two transfer codings',
      request([...HOST, 'Transfer-Encoding', 'chunked', 'TE', '', 'Transfer-Encoding', 'chunked']),
      'Transfer-Encoding',
    ],
    [
      'a transfer coding in HTTP/1.0',
      request(['Transfer-Encoding', 'chunked'], { httpVersion: '1.0' }),
      'Transfer-Encoding',
    ],
    ['no host', request([]), 'Host'],
    ['two hosts', request([...HOST, ...HOST]), 'Host'],
    ['a host with a user name', request(['Host', 'a@media.example']), 'Host'],
    ['a URL with another host', request(HOST, { url: 'https://other.example/v1/jobs' }), null],
    ['a URL of another scheme', request(HOST, { url: 'ftp://media.example/' }), null],
    ['a target without a slash', request(HOST, { url: 'v1/jobs' }), null],
  ])('refuses %s', (_what, refused, param) => {
    expect(() => refuseAmbiguous(refused)).toThrow(expect.objectContaining({ code: 'bad_request', param }));
  });
});
