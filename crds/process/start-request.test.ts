import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished } from 'vitest';
import { closeServer, listen, type ListenAddress } from '#crds/process/ops-server.ts';
import { socketOf, socketUrl, startRequest } from '#crds/process/start-request.ts';

describe('the URL of a server on a unix socket', () => {
  it.each(['/run/a/socket', '/tmp/with space/100%/ü?#@:[]/s', `/tmp/${'x'.repeat(90)}`])(
    'contains the path %s',
    (path) => {
      expect(socketOf(socketUrl(path))).toBe(path);
      expect(socketOf(`${socketUrl(path)}/files/a?expires=1`)).toBe(path);
    },
  );

  it.each(['http://127.0.0.1:80/', 'https://example.com/', 'unix:///run/a'])('does not have the form %s', (url) => {
    expect(socketOf(url)).toBeNull();
  });
});

describe('a request', () => {
  it.each([
    ['a socket', '/a%20b?c=%2F', '/a%20b?c=%2F'],
    ['a socket, without a path', '', '/'],
    ['a port', '/a%20b?c=%2F', '/a%20b?c=%2F'],
  ])('reaches the server on %s', async (where, path, seen) => {
    const folder = await mkdtemp(join(tmpdir(), 'start-request-'));
    const server = createServer((request, response) => response.end(`${request.method} ${request.url}`));
    onTestFinished(async () => {
      await closeServer(server);
      await rm(folder, { recursive: true });
    });
    const socket = join(folder, 'socket');
    const address: ListenAddress = where === 'a port' ? { host: '127.0.0.1', port: 0 } : { socket };
    await listen(server, address);
    const bound = server.address();
    const base = typeof bound === 'object' ? `http://127.0.0.1:${bound?.port}` : socketUrl(socket);
    const answered = new Promise<string>((resolve, reject) => {
      const request = startRequest(`${base}${path}`, { method: 'PUT' });
      request.once('error', reject);
      request.once('response', (response) => resolve(text(response)));
      request.end();
    });
    expect(await answered).toBe(`PUT ${seen}`);
  });
});
