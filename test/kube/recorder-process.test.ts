import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RECORDER_ACCESS } from '#api/recorder/cluster-access.ts';
import { CONTROLLER_ACCESS } from '#controller/cluster-access.ts';
import { mediaJobsPath } from '#crds/media-jobs/kubernetes-media-jobs.ts';
import { LABELS, mediaJobName } from '#crds/contract/names.ts';
import { withoutNulls } from '#crds/contract/wire-form.ts';
import { buildSpec, jobIdOf } from '#test/support/build-media-job.ts';
import { startClusterProcess, type ClusterProcess } from '#test/support/cluster-process.ts';
import { testDatabase, type TestDatabase } from '#test/support/database.ts';
import { startFakeKubelet, type FakeKubelet } from '#test/support/fake-kubelet.ts';
import { buildAccount, buildJob, readJob } from '#test/support/job-builder.ts';
import { grant, writeKubeconfig } from '#test/support/kube-connection.ts';
import { makeKubeHome, type KubeHome } from '#test/support/kube-home.ts';
import { recorderEnvironment } from '#test/support/recorder-environment.ts';

describe('recorder and controller on a cluster', () => {
  let home: KubeHome;
  let database: TestDatabase;
  let kubelet: FakeKubelet;
  let folder: string;
  let account: string;
  const processes: ClusterProcess[] = [];

  const startRecorder = async (databaseUrl = database.url): Promise<ClusterProcess> => {
    const kubeconfig = await writeKubeconfig(home.admin, { user: 'recorder', namespace: home.namespace });
    const recorder = await startClusterProcess('api/recorder.ts', {
      kubeconfig,
      environment: recorderEnvironment({ databaseUrl, folder }),
    });
    processes.push(recorder);
    return recorder;
  };
  const startController = async (): Promise<void> => {
    const kubeconfig = await writeKubeconfig(home.admin, { user: 'controller', namespace: home.namespace });
    processes.push(await startClusterProcess('controller/main.ts', { kubeconfig }));
  };
  const readiness = async ({ opsUrl }: ClusterProcess): Promise<string> =>
    fetch(`${opsUrl}/readyz`).then(
      (response) => response.text(),
      () => 'no response',
    );
  const queue = async (behaviour: string): Promise<string> => {
    const { id } = await buildJob(database, account, { inputFilename: behaviour, createdAt: new Date() });
    return id;
  };

  beforeAll(async () => {
    database = await testDatabase();
    home = await makeKubeHome();
    folder = await mkdtemp(join(tmpdir(), 'recorder-'));
    account = (await buildAccount(database)).id;
    kubelet = await startFakeKubelet(home.client, home.namespace);
  });
  afterAll(async () => {
    await Promise.all(processes.map((child) => child.end('SIGKILL')));
    await kubelet.close();
    await home.close();
    await rm(folder, { recursive: true, force: true });
  });

  it('is not ready and names the missing permissions until they are granted', async () => {
    const recorder = await startRecorder();
    await expect
      .poll(() => readiness(recorder), { timeout: 30_000 })
      .toContain('may not get, list, watch, create, patch, delete mediajobs.mediajobs.dev in namespace');
    await grant(home.client, { user: 'recorder', namespace: home.namespace, access: RECORDER_ACCESS });
    await expect.poll(() => readiness(recorder), { timeout: 30_000 }).toBe('ready\n');
  });

  it('is not ready while PostgreSQL does not respond', async () => {
    const recorder = await startRecorder('postgres://127.0.0.1:1/none');
    await expect
      .poll(() => readiness(recorder), { timeout: 30_000 })
      .toContain('PostgreSQL at DATABASE_URL does not answer');
    await recorder.end('SIGKILL');
  });

  it('runs a queued row as MediaJob and Job until it is final', async () => {
    await grant(home.client, { user: 'controller', namespace: home.namespace, access: CONTROLLER_ACCESS });
    await startController();
    const id = await queue('succeed');
    await expect.poll(async () => (await readJob(database, id)).status, { timeout: 60_000 }).toBe('succeeded');
    const job = await readJob(database, id);
    expect(job.attempt).toBe(1);
    expect(job.startedAt).not.toBeNull();
  });

  it('records the failure of a refused file', async () => {
    const id = await queue('refuse');
    await expect.poll(async () => (await readJob(database, id)).status, { timeout: 60_000 }).toBe('failed');
    expect((await readJob(database, id)).error).toMatchObject({ code: 'encrypted_pdf' });
  });

  it('deletes a MediaJob without a row, with an event that names the reason', async () => {
    const name = mediaJobName(jobIdOf(77));
    await home.client.create(mediaJobsPath(home.namespace), {
      apiVersion: 'mediajobs.dev/v1',
      kind: 'MediaJob',
      metadata: { name, labels: { [LABELS.job]: name, [LABELS.instance]: 'mediajobs' } },
      spec: withoutNulls(buildSpec({ jobId: jobIdOf(77), suspend: true })),
    });
    const messages = async (): Promise<unknown[]> => {
      const events = `/api/v1/namespaces/${home.namespace}/events`;
      const { items } = await home.client.list(events, { fieldSelector: `involvedObject.name=${name}` });
      return items.map(({ message }) => message);
    };
    await expect.poll(messages, { timeout: 30_000 }).toEqual([expect.stringContaining('No job has this id')]);
    await expect.poll(() => home.client.get(`${mediaJobsPath(home.namespace)}/${name}`).catch(String)).toContain('404');
  });

  it('leaves MediaJobs, Jobs and pods of another installation in its namespace alone', async () => {
    const name = mediaJobName(jobIdOf(78));
    const path = `${mediaJobsPath(home.namespace)}/${name}`;
    const created = await home.client.create(mediaJobsPath(home.namespace), {
      apiVersion: 'mediajobs.dev/v1',
      kind: 'MediaJob',
      metadata: { name, labels: { [LABELS.job]: name, [LABELS.instance]: 'other' } },
      spec: withoutNulls(buildSpec({ jobId: jobIdOf(78) })),
    });
    const { uid } = created.metadata;
    const jobs = `/apis/batch/v1/namespaces/${home.namespace}/jobs`;
    const job = buildJobOfOther(name, uid);
    await home.client.create(jobs, job);
    // A job of this installation passes through every step meanwhile.
    const own = await queue('succeed');
    await expect.poll(async () => (await readJob(database, own)).status, { timeout: 60_000 }).toBe('succeeded');
    expect((await home.client.get(path)).metadata.uid).toBe(uid);
    expect((await home.client.get(path))['status']).not.toHaveProperty('observedGeneration');
    expect((await home.client.get(`${jobs}/${name}-a1`)).metadata.deletionTimestamp).toBeUndefined();
  });

  it('claims the MediaJob of an earlier version without losing its attempt', async () => {
    const id = await queue('hang');
    const name = mediaJobName(id);
    const running = await home.whenever(name, ({ status }) => status?.phase === 'Running' || status === undefined);
    await expect.poll(() => kubelet.started.filter((pod) => pod.startsWith(name)).length, { timeout: 60_000 }).toBe(1);
    // As an earlier version has left it; then a process of this version takes over.
    const path = `${mediaJobsPath(home.namespace)}/${name}`;
    await home.client.mergePatch(path, { metadata: { labels: { [LABELS.instance]: null } } });
    await Promise.all(processes.splice(0).map((child) => child.end('SIGTERM')));
    await startController();
    await startRecorder();
    const claimed = await home.whenever(name, ({ metadata }) => metadata.labels[LABELS.instance] === 'mediajobs');
    expect(claimed.metadata.uid).toBe(running.metadata.uid);
    const jobs = `/apis/batch/v1/namespaces/${home.namespace}/jobs/${name}-a1`;
    expect((await home.client.get(jobs)).metadata.deletionTimestamp).toBeUndefined();
    expect(kubelet.started.filter((pod) => pod.startsWith(name))).toHaveLength(1);
  });

  it('creates a deleted MediaJob again', async () => {
    const id = await queue('hang');
    const name = mediaJobName(id);
    const { metadata } = await home.whenever(name, () => true);
    const pods = (): number => kubelet.started.filter((pod) => pod.startsWith(name)).length;
    await expect.poll(pods, { timeout: 60_000 }).toBe(1);
    await home.mediaJobs.delete(name);
    const second = await home.whenever(name, (mediaJob) => mediaJob.metadata.uid !== metadata.uid);
    expect(second.metadata.labels[LABELS.dispatch]).not.toBe(metadata.labels[LABELS.dispatch]);
    await expect.poll(pods, { timeout: 60_000 }).toBe(2);
  });
});

/** Returns a suspended Job as the controller of another installation makes it. */
function buildJobOfOther(mediaJob: string, uid: string): object {
  const labels = { [LABELS.job]: mediaJob, [LABELS.attempt]: '1', [LABELS.instance]: 'other' };
  const container = { name: 'worker', image: 'worker' };
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      name: `${mediaJob}-a1`,
      labels,
      ownerReferences: [{ apiVersion: 'mediajobs.dev/v1', kind: 'MediaJob', name: mediaJob, uid, controller: true }],
    },
    spec: {
      suspend: true,
      template: { metadata: { labels }, spec: { restartPolicy: 'Never', containers: [container] } },
    },
  };
}
