import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { createServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fromHeader, REPORT_HEADER, toHeader, WORK_TRAILER, type DirectWork } from '#crds/direct-work.ts';
import { workerReportSchema } from '#crds/media-job.ts';
import { resolveOptions } from '#crds/options/options.ts';
import { fileLimits } from '#crds/plans.ts';
import { closeServer, listen } from '#crds/shared/ops-server.ts';

let directory: string;
let engine: ChildProcess;
let port: number;
let opsPort: number;
let picture: Buffer;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'serve-direct-'));
  [port, opsPort] = await Promise.all([freePort(), freePort()]);
  const noise = { type: 'gaussian', mean: 128, sigma: 40 } as const;
  picture = await sharp({ create: { width: 300, height: 200, channels: 3, background: '#888', noise } })
    .png()
    .toBuffer();
  engine = fork(join(import.meta.dirname, 'serve-direct.ts'), [], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    env: {
      PATH: process.env.PATH,
      MEDIAJOBS_ENGINE_PORT: String(port),
      MEDIAJOBS_OPS_PORT: String(opsPort),
      MEDIAJOBS_WORK_DIR: directory,
      MEDIAJOBS_ENGINE_CHILDREN: '1',
      MEDIAJOBS_ENGINE_QUEUE: '1',
    },
  });
  await once(engine, 'message');
});
afterAll(async () => {
  engine.kill('SIGTERM');
  if (engine.exitCode === null) await once(engine, 'exit');
  await rm(directory, { recursive: true });
});

describe('serve-direct', () => {
  it('answers with the file and its report', async () => {
    const answer = await send(picture, workOf('webp'));
    expect(answer.status).toBe(200);
    expect(answer.headers).toMatchObject({
      'content-type': 'image/webp',
      'content-length': String(answer.body.length),
    });
    const { result } = workerReportSchema.parse(fromHeader(String(answer.headers[REPORT_HEADER])));
    expect(result).toMatchObject({ input_format: 'png', output_format: 'webp', output_size: answer.body.length });
    expect((await sharp(answer.body).metadata()).format).toBe('webp');
  });

  it.each<[string, number, Buffer, DirectWork | null]>([
    ['unsupported_input', 415, Buffer.from('8BPS\0\0\0\0'), workOf('original')],
    ['use_async_job', 415, Buffer.from('\x1a\x45\xdf\xa3\x87\x42\x82\x84webm', 'latin1'), workOf('original')],
    ['processing_failed', 422, Buffer.from('\xff\xd8\xff\xe0 no picture', 'latin1'), workOf('original')],
    ['feature_not_enabled', 403, Buffer.from('\xff\xd8\xff\xe0', 'latin1'), workOf('heic')],
    ['bad_request', 400, Buffer.from('x'), null],
    ['file_too_large', 413, Buffer.alloc(26 * 1024 * 1024 + 1), workOf('original')],
  ])('refuses with %s', async (code, status, body, work) => {
    const answer = await send(body, work);
    expect({ status: answer.status, code: (JSON.parse(answer.body.toString()) as { code: string }).code }).toEqual({
      status,
      code,
    });
  });

  it('turns a request away before its body when every place is taken', async () => {
    const held = [openRequest(), openRequest()];
    for (const { request } of held) request.write('x');
    await expect.poll(filesInWork).toBe(2);
    expect((await send(Buffer.from('x'), null)).status).toBe(503);
    for (const { request, answered } of held) {
      request.end();
      expect((await answered).status).toBe(400);
    }
  });

  it('forgets a request whose client goes away', async () => {
    const { request, answered } = openRequest();
    request.write('x');
    await expect.poll(filesInWork).toBe(1);
    request.destroy();
    await expect(answered).rejects.toThrow();
    await expect.poll(filesInWork).toBe(0);
  });

  it('shows its metrics and that it is ready', async () => {
    expect((await fetch(`http://127.0.0.1:${opsPort}/readyz`)).status).toBe(200);
    const metrics = await (await fetch(`http://127.0.0.1:${opsPort}/metrics`)).text();
    expect(metrics).toContain(
      'mediajobs_engine_work_seconds_count{operation="compress",kind="image",outcome="done"} 1',
    );
    expect(metrics).toContain('mediajobs_engine_busy_children 0');
    expect(metrics).toMatch(/mediajobs_engine_tool_info\{tool="ffmpeg",version="[\d.:]+/);
    expect(metrics).toMatch(/mediajobs_engine_tool_info\{tool="sharp",version="[\d.]+"\} 1/);
  });

  it('ends, when told to, with the answers that it has in work', async () => {
    const { request, answered } = openRequest();
    request.write(picture.subarray(0, 100));
    await expect.poll(filesInWork).toBe(1);
    const ended = once(engine, 'exit');
    engine.kill('SIGTERM');
    await expect.poll(() => send(picture, workOf('webp')).catch(() => null)).toBeNull();
    request.write(picture.subarray(100));
    request.addTrailers({ [WORK_TRAILER]: toHeader(workOf('webp')) });
    request.end();
    const { status, headers } = await answered;
    expect({ status, headers }).toMatchObject({ status: 200, headers: { connection: 'close' } });
    expect(await ended).toEqual([0, null]);
  });
});

/** Private directories of requests; one is the home of the engine processes. */
async function filesInWork(): Promise<number> {
  return (await readdir(directory)).length - 1;
}

function workOf(format: string): DirectWork {
  const options = resolveOptions(new Map([['image.format', format]]));
  return {
    operation: 'compress',
    options,
    limits: fileLimits('payg'),
    features: { video: false, heicOutput: false },
    filename: null,
    tenant: 'a',
  };
}

interface Answer {
  readonly status: number;
  readonly headers: Record<string, unknown>;
  readonly body: Buffer;
}

function openRequest() {
  const request = httpRequest({
    port,
    path: '/process',
    method: 'POST',
    agent: false,
    headers: { 'transfer-encoding': 'chunked', trailer: WORK_TRAILER },
  });
  const answered = new Promise<Answer>((resolve, reject) => {
    request.once('error', reject);
    request.once('response', (response) => {
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => parts.push(part));
      response.once('error', reject);
      response.once('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(parts) }),
      );
    });
  });
  return { request, answered };
}

function send(body: Buffer, work: DirectWork | null): Promise<Answer> {
  const { request, answered } = openRequest();
  request.write(body);
  if (work !== null) request.addTrailers({ [WORK_TRAILER]: toHeader(work) });
  request.end();
  return answered;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await listen(server, { host: '127.0.0.1', port: 0 });
  const { port: free } = server.address() as AddressInfo;
  await closeServer(server);
  return free;
}
