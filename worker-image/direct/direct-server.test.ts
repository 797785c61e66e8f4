import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { request as httpRequest, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Kind } from '#crds/catalogue/formats.ts';
import { resolveOptions } from '#crds/catalogue/options/options.ts';
import { fileLimits } from '#crds/catalogue/plans.ts';
import { fromHeader, REPORT_HEADER, toHeader, WORK_TRAILER, type DirectWork } from '#crds/contract/direct-work.ts';
import { makeLog } from '#crds/process/log.ts';
import { pdf } from '#test/hostile/forge-pdf.ts';
import { noisyPng } from '#test/support/engine-inputs.ts';
import { AdmissionControl } from '#worker-image/direct/admission-control.ts';
import { makeDirectServer } from '#worker-image/direct/direct-server.ts';
import { ChildPool, type PoolInput } from '#worker-image/sandbox/child-pool.ts';
import { NO_ISOLATION } from '#worker-image/tools/isolation.ts';

const log = makeLog('test', 'silent');
const WORK: DirectWork = {
  tenant: 'a',
  operation: 'compress',
  options: resolveOptions(new Map([['image.format', 'webp']])),
  limits: fileLimits('payg'),
  features: { video: false, heicOutput: false },
  filename: null,
};

let root: string;
let home: string;
let pool: ChildPool;
let server: Server;
let counted: string[];
let expected: Kind[];

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'direct-server-'));
  home = await mkdtemp(join(tmpdir(), 'direct-server-home-'));
  const options = { isolation: NO_ISOLATION, directory: home, children: 1, queue: 1, extra: 0, filesPerChild: 9 };
  pool = new ChildPool({ log, ...options });
  [counted, expected] = [[], []];
});
afterEach(async () => {
  server.closeAllConnections();
  server.close();
  await pool.close();
  for (const folder of [root, home]) await rm(folder, { recursive: true, maxRetries: 5 });
});

interface Sent {
  readonly body?: Buffer;
  readonly work?: DirectWork | null;
  readonly path?: string;
}

/** Starts a server and returns its response to one request, with the counted outcomes. */
async function responseTo(
  { body = Buffer.from('x'), work = WORK, path = '/process' }: Sent,
  { maxSeconds = 60, requests = 4 } = {},
) {
  const spool = { requests, bytes: 10_000_000 };
  const admissionControl = new AdmissionControl({ nowMs: () => performance.now() }, { children: 1, queue: 1, spool });
  const metrics = {
    worked: ({ outcome }: { outcome: string }) => void counted.push(outcome),
    shed: () => void counted.push('shed'),
  };
  const expect = (kind: Kind): void => {
    expected.push(kind);
    pool.expect(kind);
  };
  const announced = { process: (input: PoolInput) => pool.process(input), expect };
  server = makeDirectServer(
    { pool: announced, admissionControl, metrics, log, versions: {} },
    { root, maxSeconds, maxBytes: 1_000_000 },
  );
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const request = httpRequest({ port, path, method: 'POST', headers: { trailer: WORK_TRAILER } });
  if (work !== null) request.addTrailers({ [WORK_TRAILER]: toHeader(work) });
  request.end(body);
  const [response] = await once(request, 'response');
  const parts: Buffer[] = [];
  for await (const part of response) parts.push(part as Buffer);
  return { status: response.statusCode as number, headers: response.headers, body: Buffer.concat(parts) };
}

function codeOf({ body }: { readonly body: Buffer }): unknown {
  return (JSON.parse(body.toString()) as { code: unknown }).code;
}

describe('makeDirectServer', () => {
  it('responds with the output and its report, counts the work and removes the private files', async () => {
    const response = await responseTo({ body: await noisyPng() });
    expect(response).toMatchObject({ status: 200, headers: { 'content-type': 'image/webp' } });
    expect(fromHeader(String(response.headers[REPORT_HEADER]))).toMatchObject({
      result: { input_format: 'png', output_size: response.body.length },
    });
    expect(counted).toEqual(['done']);
    await expect.poll(() => readdir(root)).toEqual([]);
  });

  it.each([
    ['a PDF', ['pdf', 'pdf'], () => Promise.resolve(pdf())],
    ['an image', ['image'], noisyPng],
  ] as const)(
    'announces the kind of %s, and after it that of the next file if it repeats',
    async (_what, kinds, body) => {
      expect(await responseTo({ body: await body() })).toMatchObject({ status: 200 });
      await expect.poll(() => expected).toEqual(kinds);
    },
  );

  it.each<[string, number, Sent, string[]]>([
    ['not_found', 404, { path: '/other' }, []],
    ['bad_request', 400, { work: null }, []],
    ['unsupported_input', 415, { body: Buffer.from('plain words') }, ['unsupported_input']],
    ['file_too_large', 413, { body: Buffer.alloc(1_000_001) }, []],
  ])('refuses a request with %s after it has removed the private files', async (code, status, sent, outcomes) => {
    const response = await responseTo(sent);
    expect({ status: response.status, code: codeOf(response) }).toEqual({ status, code });
    expect(counted).toEqual(outcomes);
    expect(await readdir(root)).toEqual([]);
  });

  it('sheds a request without a permit with engine_busy', async () => {
    const response = await responseTo({}, { requests: 0 });
    expect({ status: response.status, code: codeOf(response) }).toEqual({ status: 503, code: 'engine_busy' });
    expect(counted).toEqual(['shed']);
  });

  it('refuses work that exceeds its time with timeout', async () => {
    const response = await responseTo({ body: await noisyPng() }, { maxSeconds: 0.001 });
    expect({ status: response.status, code: codeOf(response) }).toEqual({ status: 504, code: 'timeout' });
    expect(counted).toEqual(['timeout']);
  });
});
