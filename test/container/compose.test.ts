/** compose.yaml: the service with PostgreSQL and Valkey in containers of their own. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compose, connect, freePort } from '#test/container/docker.ts';
import type { ApiClient } from '#test/support/api-client.ts';
import { finished, runJob } from '#test/support/run-through.ts';

const TABLE = { bytes: Buffer.from('id,name\n0010,Ada\n'), filename: 'people.csv' };
const WORK = { operation: 'convert', options: { convert: { to: 'json' } } };

describe('compose.yaml', () => {
  let port: number;
  let api: ApiClient;
  let kept: string;

  beforeAll(async () => {
    port = await freePort();
    await compose(port, 'up', '--detach', '--wait');
    api = await connect(await service(), port);
  });
  afterAll(async () => {
    await compose(port, 'down', '--volumes');
    await api.close();
  });

  const service = (): Promise<string> => compose(port, 'ps', '--quiet', 'mediajobs');
  const jobsInPostgres = (): Promise<string> =>
    compose(port, 'exec', '--no-TTY', 'postgres', 'psql', '-U', 'mediajobs', '-Atc', 'select count(*) from jobs');

  it('runs a job, whose record is in the PostgreSQL outside', async () => {
    const job = await runJob(api, TABLE, WORK);
    expect(job).toMatchObject({ status: 'succeeded' });
    kept = String(job['id']);
    expect(await jobsInPostgres()).toBe('1');
  });

  it.each(['postgres', 'valkey'])('works on after a restart of %s', async (store) => {
    await compose(port, 'restart', store);
    const answers = () => api('GET', `/v1/jobs/${kept}`).then(({ status }) => status);
    await expect.poll(answers, { timeout: 60_000, interval: 200 }).toBe(200);
    expect(await runJob(api, TABLE, WORK)).toMatchObject({ status: 'succeeded' });
  });

  it('keeps jobs and results when all containers are removed and made again', async () => {
    await compose(port, 'down');
    await compose(port, 'up', '--detach', '--wait');
    expect(await finished(api, kept)).toMatchObject({ status: 'succeeded' });
    expect((await api('GET', `/v1/jobs/${kept}/output`)).json()).toEqual([{ id: '0010', name: 'Ada' }]);
  });
});
