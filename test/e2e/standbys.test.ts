/** Standbys on a real cluster: pods that have started and take small jobs. */
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { mediaJobName } from '#crds/contract/names.ts';
import { kubectl, kubectlJson, until } from '#test/e2e/commands.ts';
import { controllerMetrics, podsOf } from '#test/e2e/deployments.ts';
import { installWorker } from '#test/e2e/installation.ts';
import { attemptOf } from '#test/e2e/job-in-cluster.ts';
import { JOB_SECONDS, useService, WORK } from '#test/e2e/use-installation.ts';
import { finished } from '#test/support/run-through.ts';

interface Listed {
  readonly items: readonly {
    readonly metadata: { readonly name: string; readonly annotations?: Readonly<Record<string, string>> };
  }[];
}

const STANDBYS = ['--selector', 'mediajobs.dev/standby'];
const { api, createJob, close } = await useService();
const trustedCa = { pem: inject('e2e').receiverAuthority };

describe('an installation with standbys', () => {
  beforeAll(() => installWorker({ standby: { image: 2 } }, { trustedCa }));
  afterAll(async () => {
    await installWorker({}, { trustedCa });
    await close();
  });

  /** Resolves with the names of the Jobs of the standbys when so many wait for a job. */
  const ready = async (count: number): Promise<string[]> => {
    const line = `mediajobs_controller_standbys{kind="image",state="ready"} ${count}`;
    await until(`${count} standbys`, 180, async () => ((await controllerMetrics()).includes(line) ? true : null));
    const { items } = await kubectlJson<Listed>('get', 'jobs', ...STANDBYS);
    const waiting = items.filter(({ metadata }) => metadata.annotations?.['mediajobs.dev/bound-to'] === undefined);
    return waiting.map(({ metadata }) => metadata.name);
  };

  it('runs a small job in one of them, and starts another', async () => {
    const before = await ready(2);
    const id = await createJob(WORK.image);
    const job = await finished(api, id, JOB_SECONDS);
    expect(job).toMatchObject({ status: 'succeeded', error: null, result: { kind: 'image' } });
    const output = await api('GET', String(job['result'].download_url), { key: null });
    expect([output.status, output.bytes.length]).toEqual([200, job['result'].output_size]);
    expect(await controllerMetrics()).toContain('mediajobs_controller_standby_bindings_total{result="bound"} 1');
    const after = await ready(2);
    expect(after.filter((name) => before.includes(name))).toHaveLength(1);
    expect(await kubectl('get', 'pods', ...STANDBYS)).toMatch(/standby-image-\w+-\w+ +1\/1 +Running/);
  });

  it('runs a job of another kind in a pod of its own', async () => {
    const id = await createJob(WORK.pdf);
    expect(await finished(api, id, JOB_SECONDS)).toMatchObject({ status: 'succeeded' });
    const pods = await kubectl(
      'get',
      'pods',
      '--selector',
      `mediajobs.dev/job=${mediaJobName(id)}`,
      '--output',
      'name',
    );
    expect(pods).toContain(`${mediaJobName(id)}-a1`);
  });

  it('completes jobs whose standbys are killed at any moment, and those attempts do not count', async () => {
    const [first] = await ready(2);
    await kubectl(
      'delete',
      'pod',
      '--selector',
      `batch.kubernetes.io/job-name=${first}`,
      '--grace-period=0',
      '--force',
    );
    const ids = await Promise.all([createJob(WORK.image), createJob(WORK.image), createJob(WORK.image)]);
    for (let kills = 0; kills < 3; kills += 1) await kubectl('delete', 'jobs', ...STANDBYS, '--wait=false');
    for (const id of ids) {
      expect(await finished(api, id, JOB_SECONDS)).toMatchObject({ status: 'succeeded' });
      expect(await attemptOf(id)).toBeLessThanOrEqual(2);
    }
  });

  it('completes the jobs that run while the controller is replaced', async () => {
    await ready(2);
    const ids = await Promise.all([createJob(WORK.image), createJob(WORK.image)]);
    await kubectl('delete', 'pods', '--selector', podsOf('controller'), '--grace-period=0', '--force');
    for (const id of ids) expect(await finished(api, id, JOB_SECONDS)).toMatchObject({ status: 'succeeded' });
    await ready(2);
  });

  it('runs several jobs of an account in the pod of one, when the values allow it', async () => {
    await installWorker({ standby: { image: 1 }, jobsPerPod: 10 }, { trustedCa });
    await ready(1);
    const ids = await Promise.all(Array.from({ length: 5 }, () => createJob(WORK.image)));
    const seen = new Map<string, number>();
    const isOver = Promise.all(ids.map((id) => finished(api, id, JOB_SECONDS)));
    let jobs: Awaited<typeof isOver> | null = null;
    void isOver.then((all) => (jobs = all));
    await until('the jobs', JOB_SECONDS, async () => {
      const { items } = await kubectlJson<Listed>('get', 'jobs', ...STANDBYS);
      for (const { metadata } of items)
        seen.set(metadata.name, Number(metadata.annotations?.['mediajobs.dev/jobs'] ?? 0));
      return jobs;
    });
    for (const job of await isOver) {
      expect(job).toMatchObject({ status: 'succeeded', error: null });
      const output = await api('GET', String(job['result'].download_url), { key: null });
      expect([output.status, output.bytes.length]).toEqual([200, job['result'].output_size]);
    }
    for (const id of ids) expect(await attemptOf(id)).toBe(1);
    expect(Math.max(...seen.values())).toBeGreaterThan(1);
  });

  it('has none any more when the values ask for none', async () => {
    await installWorker({}, { trustedCa });
    await until('the standbys to go', 120, async () => {
      return (await kubectl('get', 'pods', ...STANDBYS, '--output', 'name')).trim() === '' ? true : null;
    });
  });
});
