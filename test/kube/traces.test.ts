import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RECORDER_ACCESS } from '#api/recorder/cluster-access.ts';
import { CONTROLLER_ACCESS } from '#controller/cluster-access.ts';
import { jobSpanId } from '#crds/contract/job-trace.ts';
import { startClusterProcess, type ClusterProcess } from '#test/support/cluster-process.ts';
import { testDatabase, type TestDatabase } from '#test/support/database.ts';
import { startFakeKubelet, type FakeKubelet } from '#test/support/fake-kubelet.ts';
import { buildAccount, buildJob, readJob } from '#test/support/job-builder.ts';
import { grant, writeKubeconfig } from '#test/support/kube-connection.ts';
import { makeKubeHome, type KubeHome } from '#test/support/kube-home.ts';
import { startOtlpReceiver, treeOf } from '#test/support/otlp-receiver.ts';
import { recorderEnvironment } from '#test/support/recorder-environment.ts';

const collector = await startOtlpReceiver();
const TRACING = { MEDIAJOBS_TRACES_URL: collector.url };
const REQUEST = 'b7ad6b7169203331';

describe('traces on a cluster', () => {
  let home: KubeHome;
  let database: TestDatabase;
  let kubelet: FakeKubelet;
  let folder: string;
  let account: string;
  const processes: ClusterProcess[] = [];

  const createJob = async (behaviour: string, traceId: string): Promise<string> => {
    const traceparent = `00-${traceId}-${REQUEST}-01`;
    const job = { inputFilename: behaviour, createdAt: new Date(), traceparent };
    return (await buildJob(database, account, job)).id;
  };
  const ended = async (id: string): Promise<string> => {
    await expect.poll(async () => (await readJob(database, id)).completedAt, { timeout: 60_000 }).not.toBeNull();
    return (await readJob(database, id)).status;
  };
  /** Spans are sent every five seconds. */
  const expectTree = async (traceId: string, tree: readonly string[]): Promise<void> => {
    await expect.poll(() => treeOf(collector.spans(), traceId), { timeout: 30_000 }).toEqual(tree);
  };

  beforeAll(async () => {
    [database, home] = [await testDatabase(), await makeKubeHome()];
    folder = await mkdtemp(join(tmpdir(), 'recorder-'));
    account = (await buildAccount(database)).id;
    kubelet = await startFakeKubelet(home.client, home.namespace);
    const { namespace } = home;
    await grant(home.client, { user: 'recorder', namespace, access: RECORDER_ACCESS });
    await grant(home.client, { user: 'controller', namespace, access: CONTROLLER_ACCESS });
    processes.push(
      await startClusterProcess('api/recorder.ts', {
        kubeconfig: await writeKubeconfig(home.admin, { user: 'recorder', namespace }),
        environment: { ...recorderEnvironment({ databaseUrl: database.url, folder }), ...TRACING },
      }),
      await startClusterProcess('controller/main.ts', {
        kubeconfig: await writeKubeconfig(home.admin, { user: 'controller', namespace }),
        environment: TRACING,
      }),
    );
  });
  afterAll(async () => {
    await Promise.all(processes.map((child) => child.end('SIGKILL')));
    await kubelet.close();
    await home.close();
    await rm(folder, { recursive: true, force: true });
  });

  it('go from the job over its dispatch and the MediaJob to the attempt, and its worker reports its phases', async () => {
    const traceId = '0af7651916cd43dd8448eb211c80319c';
    const id = await createJob('succeed-heard', traceId);
    expect(await ended(id)).toBe('succeeded');
    await expectTree(traceId, ['job', '  job queue', '  job dispatch', '    job attempt', '      attempt process']);
    const span = (name: string) => collector.spans().find((one) => one.traceId === traceId && one.name === name);
    expect(span('job')).toMatchObject({ service: 'mediajobs-recorder', spanId: jobSpanId(id), parentId: REQUEST });
    expect(span('job dispatch')).toMatchObject({ service: 'mediajobs-recorder', kind: 'PRODUCER' });
    expect(span('job attempt')).toMatchObject({
      service: 'mediajobs-controller',
      kind: 'CONSUMER',
      isError: false,
      attributes: { 'mediajobs.job.id': id, 'mediajobs.attempt': 1, 'host.name': 'node-1' },
    });
  });

  it('show why a job failed', async () => {
    const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
    expect(await ended(await createJob('refuse', traceId))).toBe('failed');
    await expectTree(traceId, ['job', '  job queue', '  job dispatch', '    job attempt']);
    const errors = collector.spans().filter((span) => span.traceId === traceId && span.isError);
    expect(errors.map(({ name, attributes }) => [name, attributes['error.type']]).toSorted()).toEqual([
      ['job attempt', 'encrypted_pdf'],
      ['job', 'encrypted_pdf'],
    ]);
  });
});
