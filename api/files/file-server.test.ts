import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeLog } from '#crds/process/log.ts';
import { openDiskFiles } from './disk-files.ts';
import { startFileServer } from './file-server.ts';
import type { FileStore } from './file-store.ts';

const linkKeys = [{ id: '1', key: Buffer.alloc(32, 1) }];
const BASE = 'http://files.example';
let now: Date;
let directory: string;
let files: FileStore;
let server: { port: number | null; close: () => Promise<void> };

beforeEach(async () => {
  now = new Date('2026-11-21T12:00:00Z');
  const clock = { now: () => now };
  directory = await mkdtemp(join(tmpdir(), 'file-server-'));
  files = await openDiskFiles({ clock, directory, baseUrl: BASE, linkKeys });
  const deps = { files, linkKeys, clock, log: makeLog('test', 'fatal'), maxBytes: 100_000 };
  server = await startFileServer(deps, { host: '127.0.0.1', port: 0 });
});
afterEach(async () => {
  await server.close();
  await rm(directory, { recursive: true });
});

const onTestPort = (url: string): string => url.replace(BASE, `http://127.0.0.1:${server.port}`);

describe('startFileServer', () => {
  it('answers 403 from the second at which a link expires', async () => {
    await files.put('a', Readable.from([Buffer.from('x')]), { maxBytes: 10 });
    const url = onTestPort(await files.signedGet('a', 60));
    now = new Date(now.getTime() + 59_999);
    expect((await fetch(url)).status).toBe(200);
    now = new Date(now.getTime() + 1);
    expect((await fetch(url)).status).toBe(403);
  });

  it.each(['/', '/files/', '/files/../a', '/files/a%2f..', '/metrics', '/files/a?expires=1&signature=x'])(
    'answers 403 for %s',
    async (path) => {
      expect((await fetch(`http://127.0.0.1:${server.port}${path}`)).status).toBe(403);
    },
  );

  it('refuses a PUT above the size limit before it reads the body', async () => {
    const request = httpRequest(onTestPort(await files.signedPut('a', 60)), {
      method: 'PUT',
      headers: { 'content-length': 100_001 },
    });
    request.on('error', () => undefined).flushHeaders();
    const [response] = (await once(request, 'response')) as [{ statusCode: number }];
    expect(response.statusCode).toBe(413);
    request.destroy();
    expect(await files.head('a')).toBeNull();
  });

  it('keeps the existing object when the sender disconnects during a PUT', async () => {
    await files.put('a', Readable.from([Buffer.from('before')]), { maxBytes: 10 });
    const url = new URL(onTestPort(await files.signedPut('a', 60)));
    const socket = connect(server.port ?? 0, '127.0.0.1');
    socket.write(`PUT ${url.pathname}${url.search} HTTP/1.1\r\nhost: x\r\ncontent-length: 50000\r\n\r\nhalf`);
    const temp = join(directory, '@temp');
    await expect.poll(() => readdir(temp)).toHaveLength(1);
    socket.destroy();
    await expect.poll(() => readdir(temp)).toEqual([]);
    expect((await files.head('a'))?.size).toBe(6);
  });

  it('applies backpressure to a slow receiver and closes the object when it disconnects', async () => {
    const size = 64 * 1024 ** 2;
    await files.put('a', Readable.from(blocks(size)), { maxBytes: size });
    let body: Readable | undefined;
    let read = 0;
    const counted = {
      put: files.put,
      get: async (key: string) => {
        const found = await files.get(key);
        body = found?.body.on('data', (chunk: Buffer) => (read += chunk.length)).pause();
        return found;
      },
    };
    const clock = { now: () => now };
    const other = await startFileServer(
      { files: counted, linkKeys, clock, log: makeLog('test', 'fatal'), maxBytes: 1 },
      { host: '127.0.0.1', port: 0 },
    );
    const url = new URL(await files.signedGet('a', 60));
    const socket = connect(other.port ?? 0, '127.0.0.1').pause();
    socket.write(`GET ${url.pathname}${url.search} HTTP/1.1\r\nhost: x\r\n\r\n`);
    await expect.poll(() => read).toBeGreaterThan(0);
    socket.destroy();
    await expect.poll(() => body?.destroyed).toBe(true);
    expect(read).toBeLessThan(size);
    await other.close();
  });
});

function* blocks(size: number): Generator<Buffer> {
  for (let sent = 0; sent < size; sent += 1024 ** 2) yield Buffer.alloc(1024 ** 2);
}
