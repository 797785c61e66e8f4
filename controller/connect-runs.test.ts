import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createConnection, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { connectRuns } from '#controller/connect-runs.ts';
import { writeJsonLine } from '#crds/process/message-lines.ts';
import { completeRequest } from '#controller/local-runs.ts';
import { killProcessesOf, processesOf } from '#crds/process/process-tree.ts';
import { REQUEST_BYTES } from '#controller/runs-messages.ts';
import { serveLocalRuns } from '#controller/serve-local-runs.ts';
import { systemClock } from '#crds/process/clock.ts';
import { makeLog } from '#crds/process/log.ts';
import { buildRunRequest } from '#test/contract/runs.ts';

const WAIT = { timeout: 10_000, interval: 20 };
let folder: string;
let path: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mediajobs-runs-'));
  path = join(folder, 'runs.sock');
});
afterEach(async () => {
  await killProcessesOf(join(folder, 'runs'));
  await rm(folder, { recursive: true, force: true });
});

async function serve(): Promise<void> {
  const { close } = await serveLocalRuns(
    { clock: systemClock, log: makeLog('test', 'silent') },
    {
      script: fileURLToPath(import.meta.resolve('#test/support/scripted-worker.ts')),
      directory: join(folder, 'runs'),
      path: process.env['PATH'] ?? '',
      stdout: 'ignore',
      concurrency: 2,
    },
    path,
  );
  onTestFinished(close);
}

describe('serveLocalRuns', () => {
  it('stops every run when the controller disconnects, and serves the next controller', async () => {
    await serve();
    const first = createConnection(path);
    await once(first, 'connect');
    writeJsonLine(first, { id: 1, method: 'start', ...(await completeRequest(buildRunRequest('hang-ignoring-stop'))) });
    await vi.waitFor(async () => expect(await processesOf(join(folder, 'runs'))).toHaveLength(2), WAIT);
    first.destroy();
    const second = await connectRuns(path);
    expect(await second.list()).toEqual([]);
    expect(await processesOf(join(folder, 'runs'))).toEqual([]);
    await second.close();
  });

  it.each([
    ['is no JSON', 'hello\n'],
    ['has no such method', '{"id":1,"method":"kill","name":"job-x-a1"}\n'],
    ['has a name that is no text', '{"id":1,"method":"stop","name":{}}\n'],
    ['is longer than the limit', 'x'.repeat(REQUEST_BYTES + 1)],
  ])('closes the connection after a message that %s', async (_what, text) => {
    await serve();
    const raw = createConnection(path);
    raw.on('error', () => undefined);
    await once(raw, 'connect');
    raw.write(text);
    await once(raw, 'close');
    const next = await connectRuns(path);
    expect(await next.list()).toEqual([]);
    await next.close();
  });
});

describe('connectRuns to a compromised process', () => {
  /** Starts a server that sends the given reply to every request. */
  async function serveReply(reply: (id: number, socket: Socket) => string): Promise<void> {
    const server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.on('data', (text) => {
        for (const line of String(text).trim().split('\n'))
          socket.write(reply((JSON.parse(line) as { id: number }).id, socket));
      });
    }).listen(path);
    await once(server, 'listening');
    onTestFinished(() => void server.close());
  }

  it('ignores attempts that it did not start', async () => {
    const status = { state: 'lost', cause: 'crashed', message: 'it says so' };
    const owner = { name: 'job-strange', uid: 'uid' };
    await serveReply(
      (id) =>
        `${JSON.stringify({ id, result: [{ name: 'job-strange-a1', owner, attempt: 1, node: null, status }] })}\n`,
    );
    const runs = await connectRuns(path);
    expect(await runs.list()).toEqual([]);
    expect(await runs.observe('job-strange')).toEqual([]);
  });

  it.each([
    ['a list that is none', (id: number) => `{"id":${id},"result":7}\n`],
    ['no JSON', () => 'hello\n'],
    ['null', () => 'null\n'],
  ])('rejects %s', async (_what, reply) => {
    await serveReply(reply);
    const runs = await connectRuns(path);
    await expect(runs.list()).rejects.toThrow();
  });

  it('names the cause of the end of the connection', async () => {
    await serveReply(() => 'hello\n');
    const runs = await connectRuns(path);
    const ended = { message: expect.stringContaining('has ended'), cause: expect.any(SyntaxError) };
    await expect(runs.list()).rejects.toMatchObject(ended);
    await expect(runs.list()).rejects.toMatchObject(ended);
  });
});
