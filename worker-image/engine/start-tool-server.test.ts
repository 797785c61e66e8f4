import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { PreparedTool } from '#worker-image/engine/handler.ts';
import { startToolServer } from '#worker-image/engine/start-tool-server.ts';
import { makeRunCommand } from '#worker-image/tools/run-command.ts';

const RESPONSE = '{"exitCode": 0, "stdout": "", "stderr": ""}';
const { signal } = new AbortController();

describe('startToolServer', () => {
  let directory: string;
  const servers: PreparedTool[] = [];

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'mediajobs-tool-'));
  });
  afterEach(async () => {
    await Promise.all(servers.splice(0).map((server) => server.end()));
    await rm(directory, { recursive: true });
  });

  const start = (script: string): PreparedTool => {
    const command = { file: 'sh', args: ['-c', script], directory, timeoutSeconds: 30 };
    const server = startToolServer(makeRunCommand(), { command, kinds: ['pdf'] });
    servers.push(server);
    return server;
  };

  it('returns the response to each request', async () => {
    const server = start(`while read request; do echo '${RESPONSE}'; done`);
    for (const request of ['a', 'b']) expect(await server.send(request, signal)).toMatchObject({ exitCode: 0 });
    expect([server.isReusable(), server.hasFailed()]).toEqual([true, false]);
  });

  it('returns null when the tool ends without a response, and reports that it has failed', async () => {
    const server = start('read request');
    expect(await server.send('a', signal)).toBeNull();
    expect([server.isReusable(), server.hasFailed()]).toEqual([false, true]);
  });

  it('ends a tool whose response is none', async () => {
    const server = start('read request; echo words; sleep 60');
    expect(await server.send('a', signal)).toBeNull();
    await server.end();
    expect([server.isReusable(), server.hasFailed()]).toEqual([false, true]);
  });

  it('accepts no request once it is being ended', async () => {
    const server = start('sleep 60');
    const ended = server.end();
    expect(await server.send('a', signal)).toBeNull();
    await ended;
    expect(server.hasFailed()).toBe(false);
  });
});
