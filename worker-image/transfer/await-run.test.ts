import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { closeServer, listen, portOf } from '#crds/process/ops-server.ts';
import { awaitRun } from '#worker-image/transfer/await-run.ts';

type ScriptedResponse = number | 'cut' | object;

describe('awaitRun', () => {
  let server: Server;
  let responses: ScriptedResponse[];
  let tokens: (string | undefined)[];
  let directory: Awaited<ReturnType<typeof mkdtempDisposable>>;
  let tokenFile: string;

  beforeEach(async () => {
    directory = await mkdtempDisposable(join(tmpdir(), 'await-run-'));
    tokenFile = join(directory.path, 'token');
    await writeFile(tokenFile, 'first');
    responses = [];
    tokens = [];
    server = createServer((request, response) => {
      tokens.push(request.headers.authorization);
      void writeFile(tokenFile, 'renewed').then(() => {
        const scripted = responses.shift() ?? 503;
        if (scripted === 'cut') request.socket.destroy();
        else if (typeof scripted === 'number') response.writeHead(scripted).end();
        else response.writeHead(200).end(JSON.stringify(scripted));
      });
    });
    await listen(server, { host: '127.0.0.1', port: 0 });
  });
  afterEach(async () => {
    await closeServer(server);
    await directory[Symbol.asyncDispose]();
  });

  const ask = (giveUpMs?: number): Promise<unknown> => {
    const url = `http://127.0.0.1:${portOf(server)}/standby`;
    return awaitRun({ url, tokenFile, retryMs: 1, ...(giveUpMs === undefined ? {} : { giveUpMs }) });
  };

  it('asks until there is a run, also after refusals and interruptions', async () => {
    responses = [204, 503, 'cut', 401, 204, { jobId: 'job_1' }];
    expect(await ask()).toEqual({ jobId: 'job_1' });
    expect(responses).toEqual([]);
  });

  it('sends the token that the file has at that time', async () => {
    responses = [204, { jobId: 'job_1' }];
    await ask();
    expect(tokens).toEqual(['Bearer first', 'Bearer renewed']);
  });

  it('ends when there will be no run', async () => {
    responses = [204, 410, { jobId: 'job_1' }];
    expect(await ask()).toBeNull();
  });

  it('asks once for a further run', async () => {
    responses = [204, { jobId: 'job_2' }];
    const url = `http://127.0.0.1:${portOf(server)}/standby`;
    expect(await awaitRun({ url, tokenFile, retryMs: 1, finished: { jobId: 'job_1', attempt: 1 } })).toBeNull();
    expect(tokens).toHaveLength(1);
  });

  it('ends after long without a response other than a refusal', async () => {
    responses = [];
    expect(await ask(50)).toBeNull();
    expect(tokens.length).toBeGreaterThan(0);
  });
});
