/** Standbys with a real API server: how they are kept, bound and lost. The controller is a whole process. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePorts } from '#api/embedded/free-ports.ts';
import { serveTransfers } from '#api/recorder/serve-transfers.ts';
import { CONTROLLER_ACCESS } from '#controller/cluster-access.ts';
import { jobsPath, podsPath } from '#controller/run-objects.ts';
import { heartbeatToken } from '#crds/contract/heartbeat-token.ts';
import { mediaJobName } from '#crds/contract/names.ts';
import { STANDBY_AUDIENCE } from '#crds/contract/run-files.ts';
import type { RunInput } from '#crds/contract/run-input.ts';
import type { KubeObject } from '#crds/kube/kube-object.ts';
import { makeLog } from '#crds/process/log.ts';
import { buildNewMediaJob, jobIdOf } from '#test/support/build-media-job.ts';
import { HEARTBEAT_KEY, startClusterProcess, type ClusterProcess } from '#test/support/cluster-process.ts';
import { requestToken, startFakeKubelet, type FakeKubelet } from '#test/support/fake-kubelet.ts';
import { grant, writeKubeconfig } from '#test/support/kube-connection.ts';
import { makeKubeHome, type KubeHome } from '#test/support/kube-home.ts';

const WAIT = { timeout: 60_000, interval: 50 };
const BOUND = 'mediajobs.dev/bound-to';
const KEY = Buffer.from(HEARTBEAT_KEY, 'base64');
const NONCE = 'mediajobs.dev/dispatch';
const NONCE_OF_JOBS = 'nonce';
const nextHalfHour = (): string => new Date(Date.now() + 1_800_000).toISOString();

describe('a controller with standbys', () => {
  let home: KubeHome;
  let kubelet: FakeKubelet;
  let kubeconfig: string;
  let controller: ClusterProcess;
  let recorder: Awaited<ReturnType<typeof serveTransfers>>;
  let port: number;
  let faults: string;
  /** What the recorder knows of the input of each job, by id. Its row exists before the MediaJob, whose Secret follows. */
  const rows = new Map<string, RunInput>();

  const start = (settings: object = {}): Promise<ClusterProcess> =>
    startClusterProcess('controller/main.ts', {
      kubeconfig,
      environment: {
        MEDIAJOBS_WORKER_POD: JSON.stringify({ image: 'worker', standby: { video: 1 }, ...settings }),
        MEDIAJOBS_HEARTBEAT_URL: `http://127.0.0.1:${port}/heartbeat`,
        MEDIAJOBS_HEARTBEAT_PORT: String(port),
        MEDIAJOBS_TRANSFER_URL: `http://127.0.0.1:${recorder.port}/transfer`,
        MEDIAJOBS_FAULTS_DIR: faults,
      },
    });
  const create = async (behaviour: string, spec: object = {}): Promise<string> => {
    const jobId = jobIdOf(rows.size + 1);
    const heartbeatTokens = [1, 2, 3].map((attempt) => heartbeatToken(KEY, jobId, attempt));
    const ticket = { filename: behaviour, heartbeatTokens };
    const mediaJob = buildNewMediaJob({ jobId, waitUntil: nextHalfHour(), ...spec }, ticket);
    rows.set(jobId, { filename: behaviour, etag: '"0"' });
    await home.mediaJobs.create({ ...mediaJob, labels: { [NONCE]: NONCE_OF_JOBS } });
    return mediaJobName(jobId);
  };
  const standbys = async (): Promise<readonly KubeObject[]> =>
    (await home.client.list(jobsPath(home.namespace), { labelSelector: 'mediajobs.dev/standby' })).items;
  const runsIn = async (run: string): Promise<string | undefined> =>
    (await home.client.get(`${jobsPath(home.namespace)}/${run}`)).metadata.annotations?.['mediajobs.dev/runs-in'];
  const podOf = async (job: string): Promise<KubeObject | undefined> => {
    const labelSelector = `batch.kubernetes.io/job-name=${job}`;
    return (await home.client.list(podsPath(home.namespace), { labelSelector })).items[0];
  };
  const metrics = async (): Promise<string> => (await fetch(`${controller.opsUrl}/metrics`)).text();
  /** Resolves with the name of the standby that is ready. */
  const ready = async (): Promise<string> => {
    const line = 'mediajobs_controller_standbys{kind="video",state="ready"} 1';
    await expect.poll(metrics, WAIT).toContain(line);
    const waiting = (await standbys()).filter(({ metadata }) => metadata.annotations?.[BOUND] === undefined);
    return (
      waiting.find(({ metadata }) => kubelet.started.some((pod) => pod.startsWith(metadata.name)))?.metadata.name ?? ''
    );
  };

  beforeAll(async () => {
    home = await makeKubeHome();
    const { client, namespace, admin } = home;
    await grant(client, { user: 'controller', namespace, access: CONTROLLER_ACCESS });
    kubeconfig = await writeKubeconfig(admin, { user: 'controller', namespace });
    kubelet = await startFakeKubelet(client, namespace);
    faults = await mkdtemp(join(tmpdir(), 'standby-faults-'));
    [port] = (await freePorts(1)) as [number];
    recorder = await serveTransfers(
      {
        log: makeLog('test', 'silent'),
        grant: async () => null,
        describe: async ({ jobId, dispatch }) => (dispatch === NONCE_OF_JOBS ? (rows.get(jobId) ?? null) : null),
      },
      { address: { host: '127.0.0.1', port: 0 }, key: KEY },
    );
    controller = await start();
  });
  afterAll(async () => {
    await controller.end('SIGKILL');
    await kubelet.close();
    await recorder.close();
    await home.close();
    await rm(faults, { recursive: true });
  });

  it('runs a small job in a standby, which ends with it and is replaced', async () => {
    const standby = await ready();
    const name = await create('succeed-heard');
    const { status } = await home.whenFinal(name);
    expect(status).toMatchObject({ phase: 'Succeeded', attempt: 1, node: 'node-1' });
    expect(kubelet.started.filter((pod) => pod.startsWith(`${name}-a`))).toEqual([]);
    expect(await metrics()).toContain('mediajobs_controller_standby_bindings_total{result="bound"} 1');
    expect(await ready()).not.toBe(standby);
  });

  it('ends a job by the report of its outcome, before its pod has ended', async () => {
    await ready();
    const { status } = await home.whenFinal(await create('succeed-reported'));
    expect(status).toMatchObject({ phase: 'Succeeded', attempt: 1 });
    expect(status?.report?.result.output_size).toBe(600);
  });

  it('runs two jobs at once, of which one finds the only standby', async () => {
    await ready();
    const names = await Promise.all([create('succeed-heard'), create('succeed-heard')]);
    for (const name of names)
      expect((await home.whenFinal(name)).status).toMatchObject({ phase: 'Succeeded', attempt: 1 });
    const own = names.filter((name) => kubelet.started.some((pod) => pod.startsWith(`${name}-a1`)));
    expect(own).toHaveLength(1);
  });

  it('gives a large input, one of unknown size and another kind a pod of its own', async () => {
    await ready();
    for (const spec of [{ inputSize: 10_000_001 }, { inputSize: null }, { kind: 'audio' as const }]) {
      const name = await create('succeed', spec);
      // The report of the scripted worker is about a small video, so some of them fail.
      expect((await home.whenFinal(name)).status).toMatchObject({ attempt: 1 });
      expect(kubelet.started.some((pod) => pod.startsWith(`${name}-a1`))).toBe(true);
    }
  });

  it('starts a job in a pod of its own when the standby was deleted', async () => {
    const standby = await ready();
    await home.client.delete(`${jobsPath(home.namespace)}/${standby}`, { propagationPolicy: 'Background' });
    const { status } = await home.whenFinal(await create('succeed'));
    expect(status).toMatchObject({ phase: 'Succeeded', attempt: 1 });
  });

  it('loses only an attempt that does not count when the standby ends with its file', async () => {
    const standby = await ready();
    const name = await create('hang');
    await expect.poll(() => runsIn(`${name}-a1`).catch(() => undefined), WAIT).toBe(standby);
    await home.client.delete(`${jobsPath(home.namespace)}/${standby}`, { propagationPolicy: 'Background' });
    const { status } = await home.whenever(name, (mediaJob) => mediaJob.status?.attempt === 2);
    expect(status).toMatchObject({ disruptions: 1, phase: 'Pending' });
    await expect.poll(() => kubelet.started.some((pod) => pod.startsWith(`${name}-a2`)), WAIT).toBe(true);
    await home.mediaJobs.delete(name);
  });

  it('ends the standby of a canceled job', async () => {
    const standby = await ready();
    const name = await create('hang');
    await expect.poll(() => runsIn(`${name}-a1`).catch(() => undefined), WAIT).toBe(standby);
    await home.mediaJobs.delete(name);
    await expect.poll(() => podOf(standby), WAIT).toBeUndefined();
  });

  it('continues a job in a standby when the controller is replaced', async () => {
    const standby = await ready();
    const name = await create('hang');
    await expect.poll(() => runsIn(`${name}-a1`).catch(() => undefined), WAIT).toBe(standby);
    await controller.end('SIGKILL');
    controller = await start();
    await ready();
    expect((await home.mediaJobs.get(name))?.status?.attempt ?? 1).toBe(1);
    expect(kubelet.started.filter((pod) => pod.startsWith(`${name}-a`))).toEqual([]);
    await home.mediaJobs.delete(name);
    await expect.poll(() => podOf(standby), WAIT).toBeUndefined();
  });

  it('runs a job once when the controller ends between the two writes of a binding', async () => {
    const standby = await ready();
    await writeFile(join(faults, 'after-standby-bound'), 'crash');
    const name = await create('succeed-heard');
    await controller.end('SIGCONT');
    controller = await start();
    const { status } = await home.whenFinal(name);
    expect(status).toMatchObject({ phase: 'Succeeded', attempt: 1 });
    expect(await runsIn(`${name}-a1`)).not.toBe(standby);
    await expect.poll(async () => (await standbys()).map(({ metadata }) => metadata.name), WAIT).not.toContain(standby);
  });

  it('sends a run to no pod that is not a standby, whatever token it has', async () => {
    await ready();
    const ask = async (token: string): Promise<number> => {
      const headers = { authorization: `Bearer ${token}` };
      return (await fetch(`http://127.0.0.1:${port}/standby`, { method: 'POST', headers })).status;
    };
    expect(await ask('')).toBe(401);
    const standby = (await podOf(await ready())) as KubeObject;
    const other = { pod: standby, expirationSeconds: 3600 };
    expect(
      await ask(
        await requestToken(home.client, home.namespace, { ...other, audience: 'https://kubernetes.default.svc' }),
      ),
    ).toBe(401);
    const stranger = await home.client.create(podsPath(home.namespace), {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'stranger', labels: standby.metadata.labels },
      spec: { containers: [{ name: 'worker', image: 'worker' }], nodeName: 'elsewhere' },
    });
    const token = await requestToken(home.client, home.namespace, {
      pod: stranger,
      expirationSeconds: 3600,
      audience: STANDBY_AUDIENCE,
    });
    await expect.poll(() => ask(token), WAIT).toBe(401);
  });

  it('replaces standbys of another image, and removes all when the settings ask for none', async () => {
    const standby = await ready();
    await controller.end();
    controller = await start({ image: 'worker:2' });
    await expect.poll(async () => (await standbys()).map(({ metadata }) => metadata.name), WAIT).not.toContain(standby);
    await ready();
    await controller.end();
    controller = await start({ standby: {} });
    const waiting = async () =>
      (await standbys()).filter(({ metadata }) => metadata.annotations?.[BOUND] === undefined);
    await expect.poll(waiting, WAIT).toEqual([]);
    expect((await home.whenFinal(await create('succeed'))).status).toMatchObject({ phase: 'Succeeded' });
  });
});
