import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CONTROLLER_ACCESS } from '#controller/cluster-access.ts';
import { jobsPath } from '#controller/run-objects.ts';
import { mediaJobName } from '#crds/contract/names.ts';
import { buildNewMediaJob, jobIdOf } from '#test/support/build-media-job.ts';
import { startClusterProcess, type ClusterProcess } from '#test/support/cluster-process.ts';
import { startFakeKubelet, type FakeKubelet } from '#test/support/fake-kubelet.ts';
import { grant, writeKubeconfig } from '#test/support/kube-connection.ts';
import { makeKubeHome, type KubeHome } from '#test/support/kube-home.ts';

const nextHalfHour = (): string => new Date(Date.now() + 1_800_000).toISOString();

describe('two replicas of the controller, with the permissions of its Role', () => {
  let home: KubeHome;
  let kubelet: FakeKubelet;
  let kubeconfig: string;
  let controllers: ClusterProcess[];
  let jobs = 0;

  const start = (): Promise<ClusterProcess> => startClusterProcess('controller/main.ts', { kubeconfig });
  const create = async (behaviour: string): Promise<string> => {
    jobs += 1;
    const jobId = jobIdOf(jobs);
    await home.mediaJobs.create(buildNewMediaJob({ jobId, waitUntil: nextHalfHour() }, { filename: behaviour }));
    return mediaJobName(jobId);
  };
  const holder = async (): Promise<string> => {
    const lease = await home.client.get(
      `/apis/coordination.k8s.io/v1/namespaces/${home.namespace}/leases/mediajobs-controller`,
    );
    return (lease['spec'] as { holderIdentity: string }).holderIdentity;
  };
  const jobNames = async (name: string): Promise<string[]> => {
    const { items } = await home.client.list(jobsPath(home.namespace), { labelSelector: `mediajobs.dev/job=${name}` });
    return items.map(({ metadata }) => metadata.name).toSorted();
  };

  beforeAll(async () => {
    home = await makeKubeHome();
    const { client, namespace, admin } = home;
    await grant(client, { user: 'controller', namespace, access: CONTROLLER_ACCESS });
    kubeconfig = await writeKubeconfig(admin, { user: 'controller', namespace });
    kubelet = await startFakeKubelet(client, namespace);
    controllers = [await start(), await start()];
  });
  afterAll(async () => {
    await Promise.all(controllers.map((controller) => controller.end('SIGKILL')));
    await kubelet.close();
    await home.close();
  });

  it('run a MediaJob until it is final', async () => {
    const { status } = await home.whenFinal(await create('succeed'));
    expect(status).toMatchObject({ phase: 'Succeeded', attempt: 1, percent: 100, node: 'node-1', reason: 'Succeeded' });
    expect(status?.report?.result.output_size).toBe(600);
  });

  it('show why Kubernetes refuses the pod of a job, and run it when it no longer does', async () => {
    const quotas = `/api/v1/namespaces/${home.namespace}/resourcequotas`;
    const quota = {
      apiVersion: 'v1',
      kind: 'ResourceQuota',
      metadata: { name: 'none' },
      spec: { hard: { pods: '0' } },
    };
    await home.client.create(quotas, quota);
    await home.client.mergePatch(`${quotas}/none/status`, { status: { hard: { pods: '0' }, used: { pods: '0' } } });
    const name = await create('succeed');
    const { status } = await home.whenever(name, (mediaJob) => mediaJob.status?.reason === 'PodRefused');
    expect(status?.message).toMatch(/^Kubernetes refuses the pod: .*exceeded quota: none/);
    const metrics = await Promise.all(
      controllers.map(({ opsUrl }) => fetch(`${opsUrl}/metrics`).then((r) => r.text())),
    );
    // A full quota needs no operator.
    expect(metrics.join('')).not.toContain('mediajobs_controller_runs_not_starting 1');
    await home.client.delete(`${quotas}/none`);
    expect((await home.whenFinal(name)).status).toMatchObject({ phase: 'Succeeded' });
  });

  it('record conditions and events', async () => {
    const name = await create('refuse');
    await home.whenFinal(name);
    const object = await home.client.get(`/apis/mediajobs.dev/v1/namespaces/${home.namespace}/mediajobs/${name}`);
    expect(object['status']).toMatchObject({
      observedGeneration: 1,
      conditions: [
        { type: 'Admitted', status: 'True' },
        { type: 'Started', status: 'True' },
        { type: 'HeartbeatsReceived', status: 'True' },
        { type: 'Succeeded', status: 'False', reason: 'FileRefused', message: 'The PDF needs a password.' },
        { type: 'Complete', status: 'False', reason: 'FileRefused' },
        { type: 'Failed', status: 'True', reason: 'FileRefused' },
      ],
    });
    const story = async (): Promise<object[]> => {
      const events = `/api/v1/namespaces/${home.namespace}/events`;
      const { items } = await home.client.list(events, { fieldSelector: `involvedObject.name=${name}` });
      return items.map(({ type, reason, message }) => ({ type, reason, message }));
    };
    const end = { type: 'Warning', reason: 'FileRefused', message: 'encrypted_pdf: The PDF needs a password.' };
    await expect.poll(story, { timeout: 30_000 }).toContainEqual(end);
  });

  it('retry a lost attempt, up to three attempts', async () => {
    const name = await create('crash');
    const { status } = await home.whenFinal(name);
    expect(status).toMatchObject({
      phase: 'Failed',
      attempt: 3,
      reason: 'AttemptsExhausted',
      error: { code: 'internal' },
    });
    expect(await jobNames(name)).toEqual([`${name}-a1`, `${name}-a2`, `${name}-a3`]);
  });

  it('start another attempt when the pod is deleted', async () => {
    const name = await create('hang');
    const pods = `/api/v1/namespaces/${home.namespace}/pods`;
    const pod = await podOf(kubelet, `${name}-a1`);
    await home.client.delete(`${pods}/${pod}`);
    const { status } = await home.whenever(name, (mediaJob) => mediaJob.status?.attempt === 2);
    expect(status?.phase).toBe('Pending');
    await home.mediaJobs.delete(name);
  });

  it('delete the Job of a deleted MediaJob', async () => {
    const name = await create('hang');
    await podOf(kubelet, `${name}-a1`);
    await home.mediaJobs.delete(name);
    await expect.poll(() => jobNames(name), { timeout: 30_000 }).toEqual([]);
  });

  it('continue when the leader is killed, without a second run of an attempt', async () => {
    const name = await create('hang');
    await podOf(kubelet, `${name}-a1`);
    const first = await holder();
    const leader = controllers.find((controller) => controller.logged().includes(`"${first}"`));
    await leader?.end('SIGKILL');
    controllers = [...controllers.filter((controller) => controller !== leader), await start()];
    const { status } = await home.whenFinal(await create('succeed'));
    expect(status?.attempt).toBe(1);
    expect(await holder()).not.toBe(first);
    expect(kubelet.started.filter((pod) => pod.startsWith(`${name}-a`))).toHaveLength(1);
    await home.mediaJobs.delete(name);
  });

  it('hand over the Lease at once when the leader is stopped', async () => {
    const first = await holder();
    const leader = controllers.find((controller) => controller.logged().includes(`"${first}"`));
    expect(await leader?.end('SIGTERM')).toBe(0);
    expect(await holder()).not.toBe(first);
    const { status } = await home.whenFinal(await create('succeed'));
    expect(status?.phase).toBe('Succeeded');
  });
});

/** Resolves with the pod's name as soon as the worker of that run was started. */
async function podOf(kubelet: FakeKubelet, run: string): Promise<string> {
  await expect.poll(() => kubelet.started.some((pod) => pod.startsWith(run)), { timeout: 30_000 }).toBe(true);
  return kubelet.started.find((pod) => pod.startsWith(run)) ?? '';
}
