import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { connect, type Connection } from '#crds/kube/connection.ts';
import { makeKubeClient, type CallLimits, type KubeClient } from '#crds/kube/kube-client.ts';
import { KubeError } from '#crds/kube/kube-error.ts';
import { makeRateLimit } from '#crds/kube/rate-limit.ts';
import { systemTime } from '#crds/kube/time.ts';
import { json, refuse, startMockApiServer, stream, type MockApiServer } from '#test/support/mock-api-server.ts';

const PATH = '/apis/mock/v1/namespaces/test/things';

describe('a client of an API server', () => {
  let server: MockApiServer;
  let connection: Connection;
  let client: KubeClient;
  let waits: number[];
  let mayWrite: boolean;

  const makeClient = (limits?: CallLimits): KubeClient =>
    makeKubeClient({
      connection,
      rateLimit: makeRateLimit(systemTime, { perSecond: 1000, burst: 1000 }),
      time: { wait: async (ms) => void waits.push(ms) },
      metrics: { requested: () => undefined },
      beforeWrite() {
        if (!mayWrite) throw new Error('Not leading.');
      },
      ...(limits === undefined ? {} : { limits }),
    });

  beforeEach(async () => {
    server = await startMockApiServer();
    connection = connect(server.kubeconfig);
    waits = [];
    mayWrite = true;
    client = makeClient();
  });
  afterEach(async () => {
    await connection.close();
    await server.close();
  });

  it('reuses its connections', async () => {
    for (let round = 0; round < 30; round += 1) {
      server.others(json(200, { metadata: { name: 'a' }, unknownToUs: { kept: true } }));
      expect(await client.get(`${PATH}/a`)).toHaveProperty('unknownToUs.kept', true);
    }
    expect(server.connections()).toBeLessThanOrEqual(2);
  });

  it('names itself in every request, and as the manager of the fields that it writes', async () => {
    const seen: string[] = [];
    const respond = (request: IncomingMessage, response: ServerResponse): void => {
      const { searchParams } = new URL(request.url ?? '/', 'http://mock');
      seen.push(`${request.method} ${request.headers['user-agent']} ${searchParams.get('fieldManager')}`);
      json(200, {})(request, response);
    };
    server.others(respond, respond, respond, respond, respond);
    server.watches((request, response) => {
      seen.push(`WATCH ${request.headers['user-agent']}`);
      response.end();
    });
    await connection.close();
    connection = connect(server.kubeconfig, 'mediajobs-controller');
    client = makeClient();
    await client.get(PATH);
    await client.create(PATH, {});
    await client.replace(PATH, {});
    await client.mergePatch(PATH, {});
    await client.delete(PATH);
    await client.watch(PATH, { watch: 'true' }, new AbortController().signal);
    expect(seen).toEqual([
      'GET mediajobs-controller null',
      'POST mediajobs-controller mediajobs-controller',
      'PUT mediajobs-controller mediajobs-controller',
      'PATCH mediajobs-controller mediajobs-controller',
      'DELETE mediajobs-controller null',
      'WATCH mediajobs-controller',
    ]);
  });

  it('uses separate connections for watches', async () => {
    const ended = new AbortController();
    server.watches(stream(['{}\n'], 'silence'));
    server.others(json(200, {}), json(200, {}));
    await client.get(PATH);
    const chunks = await client.watch(PATH, { watch: 'true' }, ended.signal);
    await chunks[Symbol.asyncIterator]().next();
    await client.get(PATH);
    expect(server.connections()).toBeLessThanOrEqual(3);
    ended.abort();
  });

  it('sends the token of the kubeconfig and the content type of a patch', async () => {
    let seen: Record<string, unknown> = {};
    server.others((request, response) => {
      seen = request.headers;
      response.end('{}');
    });
    await client.mergePatch(`${PATH}/a`, { status: { phase: 'Running' } });
    expect(seen).toMatchObject({
      authorization: 'Bearer mock-token',
      'content-type': 'application/merge-patch+json',
      accept: 'application/json, */*',
    });
  });

  it('deletes with the uid as precondition', async () => {
    let body = '';
    server.others((request, response) => {
      request.setEncoding('utf8').on('data', (text: string) => (body += text));
      request.on('end', () => response.end('{}'));
    });
    await client.delete(`${PATH}/a`, { uid: 'uid-a', propagationPolicy: 'Background' });
    expect(JSON.parse(body)).toMatchObject({ preconditions: { uid: 'uid-a' }, propagationPolicy: 'Background' });
  });

  it.each([404, 409, 422, 500, 503])('throws an error with the message of the server for status %i', async (status) => {
    server.others(refuse(status));
    const error = await client.create(PATH, {}).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(KubeError);
    expect(error).toMatchObject({ status, reason: 'Mock', message: expect.stringContaining(`mock ${status}`) });
    expect(waits).toEqual([]);
  });

  it('retries 429 and 503 after the delay in Retry-After', async () => {
    server.others(refuse(429, { 'retry-after': '2' }), refuse(503, { 'retry-after': '1' }), json(201, { done: true }));
    expect(await client.create(PATH, {})).toEqual({ done: true });
    expect(waits).toEqual([2000, 1000]);
  });

  it('throws after three retries', async () => {
    server.others(...Array.from({ length: 4 }, () => refuse(429)));
    await expect(client.create(PATH, {})).rejects.toMatchObject({ status: 429 });
    expect(waits).toHaveLength(3);
  });

  it('ends a call without a response at its own timeout, and retries no more often than its limit', async () => {
    const hurried = makeClient({ timeoutMs: 50, maxAttempts: 1 });
    await expect(hurried.get(PATH)).rejects.toMatchObject({ status: 0, message: expect.stringContaining('timeout') });
    server.others(refuse(429));
    const patient = makeClient({ timeoutMs: 30_000, maxAttempts: 1 });
    await expect(patient.create(PATH, {})).rejects.toMatchObject({ status: 429 });
    expect(waits).toEqual([]);
  });

  it('throws an error of status 0 when there is no response', async () => {
    await server.down();
    await expect(client.get(PATH)).rejects.toMatchObject({
      status: 0,
      message: expect.stringContaining('ECONNREFUSED'),
    });
  });

  it('sends no write when beforeWrite throws', async () => {
    mayWrite = false;
    server.others(json(200, {}));
    await expect(client.create(PATH, {})).rejects.toThrow('Not leading.');
    expect(await client.get(PATH)).toEqual({});
    expect(server.requests).toEqual([`GET ${PATH}`]);
  });
});
