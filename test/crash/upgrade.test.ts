/**
 * One data folder through upgrades and rollbacks of the service on one machine, with jobs in flight at each of them. A
 * release is a row of `RELEASES`.
 */
import { describe, expect, it } from 'vitest';
import { checkOut, isInHistory, newestRelease } from '#test/crash/earlier-release.ts';
import { startOwnService, type OwnService } from '#test/crash/own-service.ts';
import {
  expectDoneOnce,
  resumeEncoder,
  startVideoJob,
  untilEncoding,
  type RunningJob,
} from '#test/crash/running-job.ts';
import { finished, upload } from '#test/support/run-through.ts';

/** Earlier releases, by tag or commit. */
const RELEASES = {
  /** Knows schema 8, and refuses a newer one. */
  refusesNewerSchema: '17975ccc1ddeb2cc492355b0d5ea3beca9998af4',
  /** Works on a newer schema: the newest release, and before the first one the commit that begins to. */
  acceptsNewerSchema: newestRelease() ?? 'f23f12481b93f9944492ac08a35095ae21f91656',
} as const;

const WAITING_JOBS = 5;
const TEST_MS = 300_000;

interface InFlight {
  readonly encoding: RunningJob;
  /** Jobs that were just accepted. */
  readonly accepted: readonly string[];
}

/** Leaves a job whose encoder runs, and others that wait for a run or have just begun. */
async function startJobs(service: OwnService): Promise<InFlight> {
  const encoding = await startVideoJob(service);
  await untilEncoding(service, encoding);
  const table = Buffer.from('id,name\n0010,Ada\n');
  const create = async (): Promise<string> => {
    const input = { upload: await upload(service.api(), table, 'people.csv') };
    const json = { operation: 'convert', options: { convert: { to: 'json' } }, input };
    const created = await service.api()('POST', '/v1/jobs', { json });
    expect(created.status).toBe(202);
    return String(created.json()['id']);
  };
  return { encoding, accepted: await Promise.all(Array.from({ length: WAITING_JOBS }, create)) };
}

async function expectAllDoneOnce(service: OwnService, { encoding, accepted }: InFlight): Promise<void> {
  for (const id of accepted) {
    const job = await finished(service.api(), id, 150);
    expect(job).toMatchObject({ status: 'succeeded', error: null });
    expect(await service.query('select meter from ledger where source_id = $1', [id])).toHaveLength(1);
    const output = await service.api()('GET', `/v1/jobs/${id}/output`);
    expect(output.json()).toEqual([{ id: '0010', name: 'Ada' }]);
  }
  await expectDoneOnce(service, encoding);
}

async function kill(service: OwnService): Promise<void> {
  process.kill(service.pid(), 'SIGKILL');
  expect(await service.ended()).toBeNull();
}

async function stop(service: OwnService): Promise<void> {
  resumeEncoder(service);
  process.kill(service.pid(), 'SIGTERM');
  expect(await service.ended()).toBe(0);
}

const missing = Object.values(RELEASES).filter((commit) => !isInHistory(commit));
const leftOut = missing.length === 0 ? '' : ` (left out: this clone lacks the commits ${missing.join()})`;

describe.skipIf(missing.length > 0)(`a data folder of an earlier release${leftOut}`, async () => {
  if (missing.length > 0) return;
  const [oldest, earlier] = [checkOut(RELEASES.refusesNewerSchema), checkOut(RELEASES.acceptsNewerSchema)];
  const service = await startOwnService({}, oldest);
  let finishedBefore: InFlight;

  it(
    'is carried to this version after a SIGKILL, with its key and its jobs in flight',
    async () => {
      const jobs = await startJobs(service);
      await kill(service);
      await service.restart();
      await expectAllDoneOnce(service, jobs);
      finishedBefore = jobs;
    },
    TEST_MS,
  );

  it(
    'is refused by code that knows no newer schema, which loses nothing',
    async () => {
      const jobs = await startJobs(service);
      await stop(service);
      await expect(service.restart(oldest)).rejects.toThrow(/database has schema version \d+/);
      await service.restart();
      await expectAllDoneOnce(service, jobs);
    },
    TEST_MS,
  );

  it(
    'is carried back to an earlier version that accepts the schema',
    async () => {
      const jobs = await startJobs(service);
      await stop(service);
      await service.restart(earlier);
      await expectAllDoneOnce(service, jobs);
    },
    TEST_MS,
  );

  it(
    'is carried to this version again, with the results of all before',
    async () => {
      const jobs = await startJobs(service);
      await kill(service);
      await service.restart();
      await expectAllDoneOnce(service, jobs);
      await expectAllDoneOnce(service, finishedBefore);
    },
    TEST_MS,
  );
});
