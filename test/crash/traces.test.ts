/** The trace of a job through the processes of a service, at a collector that is somebody else's. */
import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { resumeEncoder, startVideoJob, untilEncoding } from '#test/crash/running-job.ts';
import { startOwnService } from '#test/crash/own-service.ts';
import { noisyPng } from '#test/support/engine-inputs.ts';
import { startOtlpReceiver, treeOf, type ReceivedSpan } from '#test/support/otlp-receiver.ts';
import { startReceiver } from '#test/support/receiver.ts';
import { finished, upload } from '#test/support/run-through.ts';

const collector = await startOtlpReceiver();
const service = await startOwnService({ MEDIAJOBS_TRACES_URL: collector.url });
const FILENAME = 'private-name.png';

interface TracedCall {
  readonly traceId: string;
  readonly spanId: string;
  readonly headers: { readonly traceparent: string };
}

function newCall(): TracedCall {
  const [traceId, spanId] = [randomBytes(16).toString('hex'), randomBytes(8).toString('hex')];
  return { traceId, spanId, headers: { traceparent: `00-${traceId}-${spanId}-01` } };
}

async function createJob({ headers }: TracedCall, fields: object, bytes: Buffer): Promise<string> {
  const id = await upload(service.api(), bytes, FILENAME);
  const json = { input: { upload: id }, operation: 'convert', options: { convert: { to: 'jpg' } }, ...fields };
  const created = await service.api()('POST', '/v1/jobs', { json, headers });
  expect(created.status).toBe(202);
  return String(created.json()['id']);
}

/** Spans are sent every five seconds. */
async function expectTree({ traceId }: TracedCall, tree: readonly string[]): Promise<readonly ReceivedSpan[]> {
  await expect.poll(() => treeOf(collector.spans(), traceId), { timeout: 30_000, interval: 200 }).toEqual(tree);
  return collector.spans().filter((span) => span.traceId === traceId);
}

/** Returns the names of the span and of all above it that have arrived. */
function pathTo({ traceId }: TracedCall, name: string): string[] {
  const spans = collector.spans().filter((span) => span.traceId === traceId);
  const path: string[] = [];
  let span = spans.find((one) => one.name === name);
  while (span !== undefined) {
    const { parentId, attributes } = span;
    path.push([span.name, span.name === 'job attempt' ? attributes['mediajobs.attempt'] : ''].join(' ').trim());
    span = spans.find(({ spanId }) => spanId === parentId);
  }
  return path;
}

function only(spans: readonly ReceivedSpan[], name: string): ReceivedSpan {
  const [span, ...others] = spans.filter((one) => one.name === name);
  if (span === undefined || others.length > 0) throw new Error(`${others.length + 1} spans are called ${name}`);
  return span;
}

describe("a job's trace", () => {
  it('goes from the caller over request, dispatch and attempt to the webhook', async () => {
    const receiver = await startReceiver();
    const call = newCall();
    const webhook = `${receiver.url}/private-hook`;
    const fields = { webhook_url: webhook, metadata: { order: 'private-metadata' } };
    const id = await createJob(call, fields, await noisyPng());
    expect(await finished(service.api(), id)).toMatchObject({ status: 'succeeded' });
    const spans = await expectTree(call, [
      'POST /v1/jobs',
      '  job',
      '    job queue',
      '    job dispatch',
      '      job attempt',
      '        attempt fetch',
      '        attempt process',
      '        attempt upload',
      '    POST webhook',
    ]);
    expect(only(spans, 'POST /v1/jobs')).toMatchObject({
      service: 'mediajobs-api',
      kind: 'SERVER',
      parentId: call.spanId,
      attributes: { 'http.route': '/v1/jobs', 'http.request.method': 'POST', 'http.response.status_code': 202 },
    });
    const job = only(spans, 'job');
    expect(job).toMatchObject({
      service: 'mediajobs-control',
      attributes: { 'mediajobs.job.id': id, 'mediajobs.job.status': 'succeeded', 'mediajobs.kind': 'image' },
    });
    const [row = {}] = await service.query('select created_at, started_at, completed_at from jobs where id = $1', [id]);
    expect([job.startedAt, only(spans, 'job queue').endedAt, job.endedAt]).toEqual(
      ['created_at', 'started_at', 'completed_at'].map((column) => (row[column] as Date).getTime()),
    );
    const phases = ['attempt fetch', 'attempt process', 'attempt upload'].map((name) => only(spans, name));
    const attempt = only(spans, 'job attempt');
    const times = [attempt.startedAt, ...phases.flatMap((span) => [span.startedAt, span.endedAt]), attempt.endedAt];
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    expect(only(spans, 'POST webhook')).toMatchObject({
      service: 'mediajobs-courier',
      kind: 'CLIENT',
      attributes: { 'http.response.status_code': 204, 'http.request.resend_count': 0 },
    });
    expect(spans.filter(({ isError }) => isError)).toEqual([]);
    // The interface lists the headers of a delivery.
    expect(receiver.received.map(({ headers }) => headers['traceparent'])).toEqual([undefined]);
    expect(collector.text()).not.toMatch(/private|127\.0\.0\.1|localhost|Bearer|svc_/);
  });

  it('shows what failed, with the code of the error', async () => {
    const call = newCall();
    const id = await createJob(call, {}, Buffer.from('plain words'));
    expect(await finished(service.api(), id)).toMatchObject({ error: { code: 'unsupported_input' } });
    const spans = await expectTree(call, [
      'POST /v1/jobs',
      '  job',
      '    job queue',
      '    job dispatch',
      '      job attempt',
      '        attempt fetch',
      '        attempt process',
    ]);
    const failed = spans.filter(({ isError }) => isError);
    expect(failed.map(({ name }) => name).toSorted()).toEqual(['attempt process', 'job', 'job attempt']);
    for (const { attributes } of failed) expect(attributes['error.type']).toBe('unsupported_input');
  });

  it('continues after a restart of the process that dispatches', { timeout: 240_000 }, async () => {
    const call = newCall();
    const job = await startVideoJob(service, {}, call.headers);
    await untilEncoding(service, job);
    service.kill('control');
    await untilEncoding(service, job, 2);
    resumeEncoder(service);
    expect(await finished(service.api(), job.id, 150)).toMatchObject({ status: 'succeeded' });
    // Of the killed process spans may be missing, not of those that continued its work.
    await expect
      .poll(() => pathTo(call, 'attempt upload'), { timeout: 30_000 })
      .toEqual(['attempt upload', 'job attempt 2', 'job dispatch', 'job', 'POST /v1/jobs']);
    await expect
      .poll(() => pathTo(call, 'POST webhook'), { timeout: 30_000 })
      .toEqual(['POST webhook', 'job', 'POST /v1/jobs']);
  });

  it('ends with its request when the job is canceled', async () => {
    const call = newCall();
    const job = await startVideoJob(service, {}, call.headers);
    await untilEncoding(service, job);
    await service.api()('DELETE', `/v1/jobs/${job.id}`);
    const ended = (): ReceivedSpan | undefined =>
      collector.spans().find(({ name, traceId }) => name === 'job' && traceId === call.traceId);
    await expect.poll(ended, { timeout: 30_000 }).toMatchObject({
      service: 'mediajobs-api',
      isError: false,
      attributes: { 'mediajobs.job.status': 'canceled' },
    });
  });
});

it('a direct request is one span', async () => {
  const [call, headers] = [newCall(), { 'content-type': 'application/octet-stream' }];
  const sent = { body: await noisyPng(), headers: { ...headers, ...call.headers } };
  const response = await service.api()('POST', `/v1/compress?filename=${FILENAME}`, sent);
  expect(response.status).toBe(200);
  const [span] = await expectTree(call, ['POST /v1/compress']);
  expect(span).toMatchObject({
    parentId: call.spanId,
    attributes: {
      'http.response.status_code': 200,
      'http.route': '/v1/compress',
      'mediajobs.request.id': response.headers['svc-request-id'],
    },
  });
  expect(collector.text()).not.toContain('private');
});

it('a caller who does not want to be traced is not traced', async () => {
  const call = newCall();
  const headers = { traceparent: call.headers.traceparent.replace(/01$/, '00') };
  const id = await createJob({ ...call, headers }, {}, await noisyPng());
  await finished(service.api(), id);
  const later = newCall();
  await service.api()('GET', `/v1/jobs/${id}`, { headers: later.headers });
  await expectTree(later, ['GET /v1/jobs/:id']);
  expect(treeOf(collector.spans(), call.traceId)).toEqual([]);
});
