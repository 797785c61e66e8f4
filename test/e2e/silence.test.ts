/** Heartbeats that the cluster does not bring: none of the attempts that send them is lost. */
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { mediaJobName } from '#crds/contract/names.ts';
import { kubectl, kubectlJson, until } from '#test/e2e/commands.ts';
import { changePods, podsOf, PROCESSES, rolledOut, workerPod } from '#test/e2e/deployments.ts';
import { attemptOf } from '#test/e2e/job-in-cluster.ts';
import { kindNodes } from '#test/e2e/kind-nodes.ts';
import { holdEncoders } from '#test/e2e/node-agent.ts';
import { expectNothingAmiss } from '#test/e2e/nothing-amiss.ts';
import { JOB_SECONDS, sample, useService, WORK } from '#test/e2e/use-installation.ts';
import { finished } from '#test/support/run-through.ts';

const { api, receiver, createJob, close } = await useService();
afterAll(close);
afterEach(async () => {
  for (const process of PROCESSES) await rolledOut(process);
  await expectNothingAmiss(receiver, 240);
}, 500_000);

const JOBS = 20;
/** Five times the silence after which a single attempt is lost. */
const CUT_SECONDS = 300;
const DNS = ['--namespace', 'kube-system', 'deployment/coredns'];

describe('running attempts', () => {
  it(`are not lost while the cluster has no DNS for ${CUT_SECONDS} seconds: ${JOBS} at once`, async ({ skip }) => {
    if ((await kindNodes()).length === 0) skip('the DNS of this cluster may serve others too');
    await using undo = new AsyncDisposableStack();
    undo.defer(await requestLittle());
    let ids: readonly string[] = [];
    let running: ReadonlyMap<string, number>;
    {
      await using held = new AsyncDisposableStack();
      const encoders = await holdEncoders();
      held.defer(encoders.release);
      await until('the encoders to run', 300, async () => {
        ids = await withoutEnded(ids);
        return (await encoders.count()) === JOBS ? true : null;
      });
      // Not each is the first: a busy node could not start every container.
      running = await until('their attempts', 60, () => attemptsOf(ids));
      const end = performance.now() + CUT_SECONDS * 1000;
      held.defer(await cutDns());
      // The connections of heartbeats are kept, and need DNS when they end.
      await kubectl('delete', 'pods', '--selector', podsOf('controller'));
      await expectSilent(running);
      await wait(end - performance.now());
      expect(await notSilent(running)).toEqual([]);
      await expectServed(ids[0] ?? '');
    }
    for (const [id, attempt] of running) {
      // All of them are encoded at once now.
      expect(await finished(api, id, 3 * JOB_SECONDS)).toMatchObject({ id, status: 'succeeded' });
      expect(await attemptOf(id)).toBe(attempt);
    }
  }, 1_500_000);
});

describe('a job that is created while the cluster has no DNS', () => {
  it('keeps its attempt, whose pod finds nobody until DNS is back', async ({ skip }) => {
    if ((await kindNodes()).length === 0) skip('the DNS of this cluster may serve others too');
    const restore = await cutDns();
    let id = '';
    try {
      id = await createJob(WORK.font);
      await expectSilent(new Map([[id, 1]]));
    } finally {
      await restore();
    }
    expect(await finished(api, id, JOB_SECONDS)).toMatchObject({ id, status: 'succeeded' });
    expect(await attemptOf(id)).toBe(1);
  }, 900_000);
});

/** Returns as many running jobs: those that ended before their encoder was held are replaced. */
async function withoutEnded(ids: readonly string[]): Promise<readonly string[]> {
  const jobs = await Promise.all(ids.map(async (id) => (await api('GET', `/v1/jobs/${id}`)).json()));
  const running = jobs.filter(({ status }) => status !== 'succeeded').map(({ id }) => String(id));
  while (running.length < JOBS) running.push(await createJob(WORK.video));
  return running;
}

/** Every process is ready and finds the others: jobs are read, files processed in a request. */
async function expectServed(id: string): Promise<void> {
  for (const process of PROCESSES) await rolledOut(process);
  expect((await api('GET', `/v1/jobs/${id}`)).json()).toMatchObject({ id, status: 'processing' });
  const headers = { 'content-type': 'application/octet-stream' };
  const path = '/v1/convert?filename=people.csv&convert.to=json';
  expect(await api('POST', path, { body: sample('people.csv'), headers })).toMatchObject({ status: 200 });
}

/** Lets all pods of jobs find room at once; their encoders are held. Returns a function that reverts it. */
async function requestLittle(): Promise<() => Promise<void>> {
  const pod = await workerPod();
  const resources = { requests: { cpu: '10m', memory: '64Mi' } };
  const value = JSON.stringify({ ...pod, kinds: { ...pod.kinds, video: { resources } } });
  const env = [{ name: 'MEDIAJOBS_WORKER_POD', value }];
  const restore = await changePods('controller', { containers: [{ name: 'controller', env }] });
  await rolledOut('controller');
  return restore;
}

/** Ends the cluster's DNS. Returns a function that brings it back. */
async function cutDns(): Promise<() => Promise<void>> {
  const replicas = await kubectl('get', ...DNS, '--output', 'jsonpath={.spec.replicas}');
  await kubectl('scale', ...DNS, '--replicas=0');
  await kubectl(
    'wait',
    '--namespace',
    'kube-system',
    '--for=delete',
    'pods',
    '--selector',
    'k8s-app=kube-dns',
    '--timeout=60s',
  );
  return async () => {
    await kubectl('scale', ...DNS, `--replicas=${replicas}`);
    await kubectl('rollout', 'status', ...DNS, '--timeout=180s');
  };
}

interface MediaJobs {
  readonly items: readonly {
    readonly metadata: { readonly name: string };
    readonly status?: { readonly reason?: string; readonly attempt?: number };
  }[];
}

/** Returns the current attempt of each job; null before each job's state names one. */
async function attemptsOf(ids: readonly string[]): Promise<ReadonlyMap<string, number> | null> {
  const states = await statesOf(ids);
  const attempts = new Map(ids.map((id, index) => [id, states[index]?.attempt ?? 0]));
  return [...attempts.values()].includes(0) ? null : attempts;
}

/** Waits until these attempts of jobs are overdue and not lost. */
async function expectSilent(attempts: ReadonlyMap<string, number>): Promise<void> {
  await expect.poll(() => notSilent(attempts), { timeout: 240_000, interval: 500 }).toEqual([]);
}

/** Returns the jobs in any other state, with reason and attempt. */
async function notSilent(attempts: ReadonlyMap<string, number>): Promise<readonly string[]> {
  const states = await statesOf([...attempts.keys()]);
  return [...attempts].flatMap(([id, attempt], index) => {
    const { reason, attempt: current } = states[index] ?? {};
    return reason === 'HeartbeatsMissing' && current === attempt ? [] : [`${id}: ${reason}, ${current} not ${attempt}`];
  });
}

/** Returns the states of the jobs' MediaJobs. */
async function statesOf(ids: readonly string[]): Promise<readonly MediaJobs['items'][number]['status'][]> {
  const { items } = await kubectlJson<MediaJobs>('get', 'mediajobs');
  return ids.map((id) => items.find(({ metadata }) => metadata.name === mediaJobName(id))?.status);
}
