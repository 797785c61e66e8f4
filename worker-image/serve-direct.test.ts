import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  BODY_BYTES_HEADER,
  fromHeader,
  REPORT_HEADER,
  TENANT_HEADER,
  toHeader,
  WORK_TRAILER,
  type DirectWork,
} from '#crds/contract/direct-work.ts';
import { workerReportSchema } from '#crds/contract/media-job.ts';
import { resolveOptions } from '#crds/catalogue/options/options.ts';
import { fileLimits } from '#crds/catalogue/plans.ts';
import { socketUrl } from '#crds/process/start-request.ts';
import { getText } from '#test/support/get-text.ts';

const SOON = { timeout: 20_000 };
let directory: string;
let engine: ChildProcess;
let sockets: string;
let socket: string;
let opsSocket: string;
let image: Buffer;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'serve-direct-'));
  sockets = await mkdtemp(join(tmpdir(), 'serve-direct-sockets-'));
  [socket, opsSocket] = [join(sockets, 'engine'), join(sockets, 'ops')];
  const noise = { type: 'gaussian', mean: 128, sigma: 40 } as const;
  image = await sharp({ create: { width: 300, height: 200, channels: 3, background: '#888', noise } })
    .png()
    .toBuffer();
  engine = fork(join(import.meta.dirname, 'serve-direct.ts'), [], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    env: {
      PATH: process.env.PATH,
      MEDIAJOBS_ENGINE_SOCKET: socket,
      MEDIAJOBS_OPS_SOCKET: opsSocket,
      MEDIAJOBS_WORK_DIR: directory,
      MEDIAJOBS_ENGINE_CHILDREN: '1',
      MEDIAJOBS_ENGINE_QUEUE: '1',
      MEDIAJOBS_ENGINE_SPOOL_MB: '64',
    },
  });
  await once(engine, 'message');
});
afterAll(async () => {
  engine.kill('SIGTERM');
  if (engine.exitCode === null) await once(engine, 'exit');
  for (const folder of [directory, sockets]) await rm(folder, { recursive: true });
});

describe('serve-direct', () => {
  it('responds with the file and its report', async () => {
    const response = await send(image, workOf('webp'));
    expect(response.status).toBe(200);
    expect(response.headers).toMatchObject({
      'content-type': 'image/webp',
      'content-length': String(response.body.length),
    });
    const { result } = workerReportSchema.parse(fromHeader(String(response.headers[REPORT_HEADER])));
    expect(result).toMatchObject({ input_format: 'png', output_format: 'webp', output_size: response.body.length });
    expect((await sharp(response.body).metadata()).format).toBe('webp');
  });

  // Promise, Direct endpoints: Unsupported_input, use_async_job, encrypted_pdf, processing_failed, limit_exceeded with value and limit
  it.each<[string, number, Buffer, DirectWork | null]>([
    ['unsupported_input', 415, Buffer.from('8BPS\0\0\0\0'), workOf('original')],
    ['use_async_job', 415, Buffer.from('\x1a\x45\xdf\xa3\x87\x42\x82\x84webm', 'latin1'), workOf('original')],
    ['processing_failed', 422, Buffer.from('\xff\xd8\xff\xe0 no picture', 'latin1'), workOf('original')],
    ['feature_not_enabled', 403, Buffer.from('\xff\xd8\xff\xe0', 'latin1'), workOf('heic')],
    ['bad_request', 400, Buffer.from('x'), null],
    ['file_too_large', 413, Buffer.alloc(26 * 1024 * 1024 + 1), workOf('original')],
  ])('refuses with %s', async (code, status, body, work) => {
    const response = await send(body, work);
    expect({ status: response.status, code: codeOf(response.body) }).toEqual({
      status,
      code,
    });
  });

  it.each([
    ['has more bytes than it declared', { [BODY_BYTES_HEADER]: '1' }],
    ['names another tenant than its work', { [TENANT_HEADER]: 'b' }],
  ])('refuses a request that %s', async (_what, headers) => {
    const { status, body } = await send(image, workOf('webp'), headers);
    expect({ status, code: codeOf(body) }).toEqual({ status: 400, code: 'bad_request' });
  });

  it('refuses the newest body of a tenant above its share to admit the first one of another', async () => {
    const held = [openRequest({ [TENANT_HEADER]: 'a' }), openRequest({ [TENANT_HEADER]: 'a' })];
    for (const [n, { request }] of held.entries()) {
      request.write('x');
      await expect.poll(requestDirectories, SOON).toBe(n + 1);
    }
    const other = await send(image, { ...workOf('webp'), tenant: 'b' }, { [TENANT_HEADER]: 'b' });
    expect(other.status).toBe(200);
    const newest = await held[1]?.answered;
    expect({ status: newest?.status, code: codeOf(newest?.body) }).toEqual({ status: 503, code: 'engine_busy' });
    held[0]?.request.end(image);
    expect((await held[0]?.answered)?.status).toBe(400);
    for (const { request } of held) request.destroy();
    // The space of an answered request is released with its files.
    await expect.poll(requestDirectories, SOON).toBe(0);
  });

  // Promise, Bad input, case by case: Busy, hanging and crashing engines
  // Promise, Direct endpoints: Engine_busy before the body, nothing counted
  it('refuses a request before its body when it has no permit left', async () => {
    const held = [openRequest(), openRequest()];
    for (const { request } of held) request.write('x');
    await expect.poll(requestDirectories, SOON).toBe(2);
    expect((await send(Buffer.from('x'), null)).status).toBe(503);
    for (const { request, answered } of held) {
      request.end();
      expect((await answered).status).toBe(400);
    }
  });

  // Promise, Bad input, case by case: A client that disconnects
  it('removes the files of a request whose client disconnects', async () => {
    const { request, answered } = openRequest();
    request.write('x');
    await expect.poll(requestDirectories, SOON).toBe(1);
    request.destroy();
    await expect(answered).rejects.toThrow();
    await expect.poll(requestDirectories, SOON).toBe(0);
  });

  it('serves metrics and readiness', async () => {
    expect((await getText(`${socketUrl(opsSocket)}/readyz`)).status).toBe(200);
    const metrics = (await getText(`${socketUrl(opsSocket)}/metrics`)).body;
    expect(metrics).toContain(
      'mediajobs_engine_work_seconds_count{operation="compress",kind="image",outcome="done"} 2',
    );
    expect(metrics).toContain('mediajobs_engine_busy_children 0');
    expect(metrics).toMatch(/mediajobs_engine_tool_info\{tool="ffmpeg",version="[\d.:]+/);
    expect(metrics).toMatch(/mediajobs_engine_tool_info\{tool="sharp",version="[\d.]+"\} 1/);
  });

  it('sends the responses in flight before it ends', async () => {
    const { request, answered } = openRequest();
    request.write(image.subarray(0, 100));
    await expect.poll(requestDirectories, SOON).toBe(1);
    const ended = once(engine, 'exit');
    engine.kill('SIGTERM');
    await expect.poll(() => send(image, workOf('webp')).catch(() => null)).toBeNull();
    request.write(image.subarray(100));
    request.addTrailers({ [WORK_TRAILER]: toHeader(workOf('webp')) });
    request.end();
    const { status, headers } = await answered;
    expect({ status, headers }).toMatchObject({ status: 200, headers: { connection: 'close' } });
    expect(await ended).toEqual([0, null]);
  });
});

/** Returns the number of private directories of requests; one more contains those of the engine processes. */
async function requestDirectories(): Promise<number> {
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

interface DirectResponse {
  readonly status: number;
  readonly headers: Record<string, unknown>;
  readonly body: Buffer;
}

function openRequest(headers: Readonly<Record<string, string>> = {}) {
  const request = httpRequest({
    socketPath: socket,
    path: '/process',
    method: 'POST',
    agent: false,
    headers: { 'transfer-encoding': 'chunked', trailer: WORK_TRAILER, ...headers },
  });
  const answered = new Promise<DirectResponse>((resolve, reject) => {
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

function codeOf(body: Buffer | undefined): unknown {
  return (JSON.parse(String(body)) as { code: string }).code;
}

function send(
  body: Buffer,
  work: DirectWork | null,
  headers: Readonly<Record<string, string>> = {},
): Promise<DirectResponse> {
  const { request, answered } = openRequest(headers);
  request.write(body);
  if (work !== null) request.addTrailers({ [WORK_TRAILER]: toHeader(work) });
  request.end();
  return answered;
}
