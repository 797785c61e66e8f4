import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { heartbeatToken } from '#crds/contract/heartbeat-token.ts';
import { MemoryMediaJobs } from '#crds/media-jobs/memory-media-jobs.ts';
import { transferAddress, type TransferGrant, type TransferRequest } from '#crds/contract/transfer-urls.ts';
import type { MediaJobStatus } from '#crds/contract/media-job.ts';
import { LABELS, mediaJobName } from '#crds/contract/names.ts';
import { OUTCOME_PATH, portAddress, STANDBY_PATH } from '#crds/contract/worker-port.ts';
import { makeLog } from '#crds/process/log.ts';
import { CLUSTER_TIMING } from '#controller/timing.ts';
import { serveWorkerPort, type Heartbeats } from '#controller/worker-port-server.ts';
import { buildNewMediaJob, buildStatus, jobIdOf } from '#test/support/build-media-job.ts';

const JOB = jobIdOf(1);
const KEY = Buffer.alloc(32, 1);
const tokenOf = (jobId: string, attempt: number): string => heartbeatToken(KEY, jobId, attempt);

/** Statuses of a MediaJob whose first attempt is no longer the current one. */
const NOT_CURRENT = [
  ['a later attempt began', { attempt: 2 }],
  ['the attempt is lost', { attempt: 1, reason: 'AttemptLost' }],
  ['the job has ended', { attempt: 1, phase: 'Failed' }],
] as const;

describe('serveWorkerPort', () => {
  let now: Date;
  const clock = { now: () => now };
  let mediaJobs: MemoryMediaJobs;
  let heartbeats: Heartbeats;
  let grant: (request: TransferRequest) => TransferGrant | null;

  beforeEach(async () => {
    now = new Date('2026-01-01T00:00:00Z');
    grant = () => null;
    mediaJobs = new MemoryMediaJobs({ clock, newUid: () => 'uid-1' });
    await mediaJobs.create({ ...buildNewMediaJob(), labels: { [LABELS.dispatch]: 'nonce' } });
    heartbeats = await serveWorkerPort(
      { clock, log: makeLog('test', 'silent'), mediaJobs, grantTransfer: async (request) => grant(request) },
      { address: { host: '127.0.0.1', port: 0 }, key: KEY },
    );
  });
  afterEach(() => heartbeats.close());

  const become = async (status: Partial<MediaJobStatus>): Promise<void> => {
    const mediaJob = await mediaJobs.get(mediaJobName(JOB));
    if (mediaJob !== null) await mediaJobs.updateStatus(mediaJob, buildStatus(status));
  };
  const send = (body: unknown, more: { token?: string; method?: string; url?: string } = {}): Promise<Response> =>
    fetch(more.url ?? heartbeats.url, {
      method: more.method ?? 'POST',
      headers: { authorization: `Bearer ${more.token ?? tokenOf(JOB, 1)}` },
      ...(more.method === 'GET' ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
  const beat = (percent: number, attempt = 1): Promise<Response> =>
    send({ jobId: JOB, attempt, percent }, { token: tokenOf(JOB, attempt) });

  // Promise, States: Processing begins with the worker's first heartbeat; percent never decreases
  it('records times and percentage, which never decreases', async () => {
    await become({ attempt: 1 });
    const firstAt = now;
    expect((await beat(20)).status).toBe(204);
    now = new Date('2026-01-01T00:00:05Z');
    expect((await beat(10)).status).toBe(204);
    expect(heartbeats.last(JOB, 1)).toMatchObject({ firstAt, lastAt: now, percent: 20 });
  });

  it('records the heartbeats of each attempt separately', async () => {
    await become({ attempt: 1 });
    await beat(80);
    await become({ attempt: 2 });
    await beat(5, 2);
    expect(heartbeats.last(JOB, 2)?.percent).toBe(5);
    expect(heartbeats.last(JOB, 1)).toBeNull();
  });

  it('calls its watchers back until they abort', async () => {
    await become({ attempt: 1 });
    const seen: string[] = [];
    const ended = new AbortController();
    heartbeats.watch((jobId) => seen.push(jobId), ended.signal);
    await beat(1);
    ended.abort();
    await beat(2);
    expect(seen).toEqual([JOB]);
  });

  it('forgets the heartbeats of a job', async () => {
    await become({ attempt: 1 });
    await beat(1);
    heartbeats.forget(JOB);
    expect(heartbeats.last(JOB, 1)).toBeNull();
  });

  it.each(NOT_CURRENT)('answers 410 when %s', async (_what, status) => {
    await become(status);
    expect((await beat(50)).status).toBe(410);
    expect(heartbeats.last(JOB, 1)).toBeNull();
  });

  it('answers 410 when the MediaJob was deleted', async () => {
    await become({ attempt: 1 });
    await mediaJobs.delete(mediaJobName(JOB));
    expect((await beat(50)).status).toBe(410);
  });

  it('records the heartbeat of an attempt that is not in the cached status yet', async () => {
    expect((await beat(1)).status).toBe(204);
  });

  it.each([
    ['no token', ''],
    ['a wrong token', 'wrong'],
    ['the token of another attempt', 'other-attempt'],
    ['the token of another job', 'other-job'],
  ])('answers 401 to %s', async (_what, token) => {
    await become({ attempt: 1 });
    const tokens: Record<string, string> = {
      'other-attempt': tokenOf(JOB, 2),
      'other-job': tokenOf(jobIdOf(2), 1),
    };
    expect((await send({ jobId: JOB, attempt: 1, percent: 1 }, { token: tokens[token] ?? token })).status).toBe(401);
    expect(heartbeats.last(JOB, 1)).toBeNull();
  });

  it.each([
    ['no JSON', '{'],
    ['an impossible percent', { jobId: JOB, attempt: 1, percent: 100 }],
    ['a body that is too large', { jobId: JOB, attempt: 1, percent: 1, more: 'x'.repeat(2000) }],
  ])('answers 400 to %s', async (_what, body) => {
    expect((await send(body)).status).toBe(400);
  });

  describe('for transfers', () => {
    const body = { jobId: JOB, attempt: 1, dispatch: 'nonce', transfer: { of: 'input' } } as const;
    const request = (sent: object, token = tokenOf(JOB, 1)): Promise<Response> =>
      send(sent, { url: transferAddress(heartbeats.url), token });

    it('answers with what is granted to the attempt', async () => {
      const seen: unknown[] = [];
      grant = (received) => {
        seen.push(received);
        return { url: 'http://store.test/input' };
      };
      const response = await request(body);
      expect([response.status, await response.json()]).toEqual([200, { url: 'http://store.test/input' }]);
      expect(seen).toEqual([body]);
    });

    it('answers 410 when nothing is granted, and 503 when that is not known', async () => {
      expect((await request(body)).status).toBe(410);
      grant = () => {
        throw new Error('the recorder does not answer');
      };
      expect((await request(body)).status).toBe(503);
    });

    it('answers 401 to the token of another attempt or job, and 400 to an unknown transfer', async () => {
      grant = () => ({ url: 'http://store.test/input' });
      expect((await request(body, tokenOf(JOB, 2))).status).toBe(401);
      expect((await request(body, tokenOf(jobIdOf(2), 1))).status).toBe(401);
      expect((await request({ ...body, transfer: { of: 'everything' } })).status).toBe(400);
    });
  });

  describe('for outcomes', () => {
    const failed = { outcome: 'failed', error: { code: 'encrypted_pdf', message: 'The PDF needs a password.' } };
    const report = (changes: object = {}, token = tokenOf(JOB, 1)): Promise<Response> => {
      const body = { jobId: JOB, attempt: 1, dispatch: 'nonce', outcome: JSON.stringify(failed), ...changes };
      return send(body, { url: portAddress(heartbeats.url, OUTCOME_PATH), token });
    };

    it('records the outcome of the current attempt and notifies of it, until the job is forgotten', async () => {
      const ended = new AbortController();
      const notified: string[] = [];
      heartbeats.watch((jobId) => notified.push(jobId), ended.signal);
      expect((await report()).status).toBe(204);
      expect(heartbeats.outcome(JOB, 1, 'nonce')).toEqual(failed);
      expect([heartbeats.outcome(JOB, 2, 'nonce'), heartbeats.outcome(JOB, 1, 'other')]).toEqual([null, null]);
      expect(notified).toEqual([JOB]);
      heartbeats.forget(JOB);
      expect(heartbeats.outcome(JOB, 1, 'nonce')).toBeNull();
      ended.abort();
    });

    it.each(NOT_CURRENT)('answers 410 when %s', async (_what, status) => {
      await become(status);
      expect((await report()).status).toBe(410);
      expect(heartbeats.outcome(JOB, 1, 'nonce')).toBeNull();
    });

    it('answers 410 to an attempt of an earlier MediaJob, whose token is the same', async () => {
      expect((await report({ dispatch: 'earlier' })).status).toBe(410);
      expect(heartbeats.outcome(JOB, 1, 'earlier')).toBeNull();
    });

    it('answers 401 to the token of another attempt, and 400 to what is not an outcome', async () => {
      expect((await report({}, tokenOf(JOB, 2))).status).toBe(401);
      const more = JSON.stringify({ ...failed, more: 'x' });
      for (const outcome of ['{', more, 'x'.repeat(5000)]) expect((await report({ outcome })).status).toBe(400);
      expect(heartbeats.outcome(JOB, 1, 'nonce')).toBeNull();
    });
  });

  it('ends standbys where there are none', async () => {
    expect((await send('', { url: portAddress(heartbeats.url, STANDBY_PATH) })).status).toBe(410);
  });

  it('accepts one path and one method', async () => {
    expect((await send('', { method: 'GET' })).status).toBe(405);
    expect((await send('', { url: new URL('/other', heartbeats.url).href })).status).toBe(404);
  });

  it('keeps connections for longer than the interval of heartbeats', async () => {
    await become({ attempt: 1 });
    const response = await beat(1);
    const seconds = Number(/timeout=(\d+)/.exec(response.headers.get('keep-alive') ?? '')?.[1]);
    expect(seconds).toBeGreaterThan(CLUSTER_TIMING.heartbeatIntervalSeconds);
  });
});
