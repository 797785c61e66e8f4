import { existsSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { startOwnService } from '#test/crash/own-service.ts';
import {
  expectDoneOnce,
  expectNothingLeft,
  resumeEncoder,
  rowOf,
  startVideoJob,
  untilEncoding,
} from '#test/crash/running-job.ts';
import { finished } from '#test/support/run-through.ts';

const service = await startOwnService();
const SECONDS = { timeout: 20_000, interval: 100 };

describe('the whole service', () => {
  it('ends with all processes when its supervisor is killed, and the next start finishes the job', async () => {
    const job = await startVideoJob(service);
    await untilEncoding(service, job);
    process.kill(service.pid(), 'SIGKILL');
    expect(await service.ended()).toBeNull();
    await expect.poll(() => service.processes(), SECONDS).toEqual([]);
    await service.restart();
    await expectDoneOnce(service, job);
    expect((await rowOf(service, job.id))['attempt']).toBeLessThanOrEqual(2);
  }, 240_000);

  it('can be started again while its killed predecessor is still dying', async () => {
    const job = await startVideoJob(service);
    await untilEncoding(service, job);
    process.kill(service.pid(), 'SIGKILL');
    await service.ended();
    await service.restart();
    await expectDoneOnce(service, job);
  }, 240_000);

  it('stops on SIGTERM during a job, which loses no attempt', async () => {
    const job = await startVideoJob(service);
    await untilEncoding(service, job);
    resumeEncoder(service);
    process.kill(service.pid(), 'SIGTERM');
    expect(await service.ended()).toBe(0);
    expect(service.processes()).toEqual([]);
    expect(existsSync(path.join(service.data, 'ready.json'))).toBe(false);
    await service.restart();
    await expectDoneOnce(service, job);
    expect(await rowOf(service, job.id)).toMatchObject({ attempt: 1 });
  }, 240_000);
});

describe('a job whose every attempt is lost', () => {
  it('ends after the third one with internal, unbilled, with one event', async () => {
    const job = await startVideoJob(service);
    for (const attempt of [1, 2, 3]) {
      await untilEncoding(service, job, attempt);
      service.kill('control');
    }
    const ended = await finished(service.api(), job.id, 60);
    expect(ended).toMatchObject({ status: 'failed', billed: false, error: { code: 'internal' } });
    expect(await service.query('select meter from ledger where source_id = $1', [job.id])).toEqual([
      { meter: 'unbilled' },
    ]);
    await expect.poll(() => job.receiver.received.length, SECONDS).toBe(1);
    await expectNothingLeft(service);
  }, 240_000);
});
