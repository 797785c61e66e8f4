/**
 * Processes, pods and connections of a cluster fail. Every job ends once, is charged once, sends one event, and leaves
 * no objects. A process is killed right after the job passed from one process to another.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { evict, kubectl, until } from '#test/e2e/commands.ts';
import { freshPods, podsOf, PROCESSES, rolledOut, type Process } from '#test/e2e/deployments.ts';
import {
  untilAttemptRuns,
  attemptOf,
  podsOfJob,
  reach,
  eventMessagesOf,
  type Point,
} from '#test/e2e/job-in-cluster.ts';
import { holdEncoders, signalPods } from '#test/e2e/node-agent.ts';
import { expectNothingAmiss } from '#test/e2e/nothing-amiss.ts';
import { JOB_SECONDS, LONG_WORK, sample, useService, WORK } from '#test/e2e/use-installation.ts';
import { sql } from '#test/e2e/stores.ts';
import { finished, upload } from '#test/support/run-through.ts';

const { api, receiver, createJob, close } = await useService();
afterAll(close);
afterEach(async () => {
  await expectNothingAmiss(receiver);
  for (const process of PROCESSES) await rolledOut(process);
}, 400_000);

describe('a process of the service that is killed', () => {
  const KILLS: readonly (readonly [Process, Point])[] = [
    ['controller', 'has a MediaJob'],
    ['controller', 'has a pod'],
    ['controller', 'is running'],
    ['recorder', 'was accepted'],
    ['recorder', 'has ended in the cluster'],
    ['api', 'is running'],
  ];
  it.each(KILLS)('loses no job: the %s, when a job %s', async (process, point) => {
    await freshPods(process);
    const ids = [await createJob(LONG_WORK)];
    for (const work of [WORK.font, WORK.image]) ids.push(await createJob(work));
    await reach(ids[0] ?? '', point);
    await signalPods(podsOf(process), 'KILL');
    await rolledOut(process);
    for (const id of ids) expect(await finished(api, id, JOB_SECONDS)).toMatchObject({ status: 'succeeded' });
  });

  it('makes one job of each request that is sent again with its key: the API, in the middle of requests', async () => {
    await freshPods('api');
    const uploads = await Promise.all(Array.from({ length: 8 }, () => upload(api, sample('typeface.ttf'), 'a.ttf')));
    const send = async (id: string): Promise<string> => {
      const headers = { 'idempotency-key': `kill-${id}` };
      const json = { operation: 'convert', input: { upload: id }, options: { convert: { to: 'woff2' } } };
      for (;;) {
        const response = await api('POST', '/v1/jobs', { json, headers }).catch(() => null);
        if (response?.status === 202) return String(response.json()['id']);
        if (response !== null) expect([409, 500, 503]).toContain(response.status);
        await wait(500);
      }
    };
    const sending = uploads.map((id) => send(id));
    await signalPods(podsOf('api'), 'KILL');
    const ids = await Promise.all(sending);
    const rows = await sql<{ id: string }>(
      `select id from jobs where upload_id in (${uploads.map((id) => `'${id}'`).join()})`,
    );
    expect(rows.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
  });

  it('sends everything once more that nobody has answered: the courier', async () => {
    const path = (what: string): string => `${receiver.url}/hold-${Date.now()}/${what}`;
    const webhook = path('webhook');
    const transfers = [path('photo.jpg'), path('output')] as const;
    const held = async (url: string): Promise<void> => {
      const { pathname } = new URL(url);
      await until(url, 120, async () =>
        (await receiver.received()).some((one) => one.path === pathname) ? true : null,
      );
    };
    const id = await createJob(WORK.image, {
      input: { url: transfers[0] },
      output: { url: transfers[1] },
      webhook_url: webhook,
    });
    await freshPods('courier');
    for (const url of [...transfers, webhook]) {
      await held(url);
      await signalPods(podsOf('courier'), 'KILL');
    }
    expect(await finished(api, id, JOB_SECONDS)).toMatchObject({ status: 'succeeded' });
  });
});

describe('an attempt', () => {
  const POD_NAME = 'jsonpath={.items[0].metadata.name}';
  const LOSSES: readonly (readonly [string, (id: string) => Promise<unknown>])[] = [
    ['pod is deleted', (id) => kubectl('delete', 'pod', '-l', podsOfJob(id), '--wait=false')],
    ['pod is deleted by force', (id) => kubectl('delete', 'pod', '-l', podsOfJob(id), '--grace-period=0', '--force')],
    ['pod is evicted', async (id) => evict(await kubectl('get', 'pod', '-l', podsOfJob(id), '-o', POD_NAME))],
    ['process is killed', (id) => signalPods(podsOfJob(id), 'KILL')],
  ];
  // Encoders are held, so that no attempt ends by itself before it is lost.
  it.each(LOSSES)('whose %s is followed by the next', async (_what, lose) => {
    const id = await createJob(LONG_WORK);
    const encoders = await holdEncoders();
    try {
      await reach(id, 'is running');
      await lose(id);
      await untilAttemptRuns(id, 2);
    } finally {
      await encoders.release();
    }
    expect(await finished(api, id, JOB_SECONDS)).toMatchObject({ status: 'succeeded' });
    expect(await attemptOf(id)).toBe(2);
  });

  it('that is the third to be lost ends the job with internal', async () => {
    const id = await createJob(LONG_WORK);
    const encoders = await holdEncoders();
    try {
      for (const attempt of [1, 2, 3]) {
        await untilAttemptRuns(id, attempt);
        await signalPods(podsOfJob(id, attempt), 'KILL');
      }
    } finally {
      await encoders.release();
    }
    const job = await finished(api, id, JOB_SECONDS);
    expect(job).toMatchObject({ status: 'failed', billed: false, error: { code: 'internal' } });
  });

  it('that is the second to run out of memory ends the job with processing_failed', async () => {
    const input = { upload: await upload(api, sample('photo.jpg'), 'photo') };
    const id = await createJob(WORK.image, { input });
    const job = await finished(api, id, JOB_SECONDS);
    expect(job).toMatchObject({ status: 'failed', billed: false, error: { code: 'processing_failed' } });
    expect(await attemptOf(id)).toBe(2);
    expect(await eventMessagesOf(id)).toContain('out of memory');
  });
});
