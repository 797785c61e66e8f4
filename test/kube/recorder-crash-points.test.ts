import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RECORDER_ACCESS } from '#api/recorder/cluster-access.ts';
import { CHANGES_CHANNEL } from '#api/store/changes-channel.ts';
import { notify } from '#api/store/listen.ts';
import { recordInput } from '#api/transfers/transfer-rows.ts';
import { mediaJobsPath } from '#crds/media-jobs/kubernetes-media-jobs.ts';
import { mediaJobName } from '#crds/contract/names.ts';
import { chunksOf } from '#test/support/chunks-of.ts';
import { startClusterController } from '#test/support/cluster-controller.ts';
import { startClusterProcess, type ClusterProcess } from '#test/support/cluster-process.ts';
import { testDatabase, type TestDatabase } from '#test/support/database.ts';
import { startFakeKubelet } from '#test/support/fake-kubelet.ts';
import { buildAccount, buildJob, readJob } from '#test/support/job-builder.ts';
import { grant, writeKubeconfig } from '#test/support/kube-connection.ts';
import { makeKubeHome, type KubeHome } from '#test/support/kube-home.ts';
import { startKubeProxy, type KubeProxyPlan } from '#test/support/kube-proxy.ts';
import { recorderEnvironment } from '#test/support/recorder-environment.ts';

interface Life {
  readonly status: string;
  readonly attempt: number;
  /** Rows of the ledger. */
  readonly charges: number;
  /** Number of its pods. */
  readonly pods: number;
  /** MediaJobs and Secrets that remain after the retention of MediaJobs. */
  readonly left: number;
}

const END: Life = { status: 'succeeded', attempt: 1, charges: 1, pods: 1, left: 0 };
const LIVES = [
  { input: 'there', writes: ['POST mediajobs', 'POST secrets', 'DELETE job'] },
  {
    input: 'fetched',
    writes: ['POST mediajobs', 'POST secrets', 'PATCH secret', 'PATCH job', 'DELETE job'],
  },
] as const;

/** Maximum number of concurrent lives. Each has its own database and processes. */
const AT_ONCE = 2;
const POLL = { timeout: 90_000, interval: 100 };
/** Time above the maximum age of a MediaJob without a ticket. */
const TICKET_LATE_SECONDS = 60;
/** Time above the retention of a finished MediaJob. */
const AFTER_END_SECONDS = 400;

describe('a job whose recorder is killed at its writes to the API server', () => {
  const databases: TestDatabase[] = [];
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'recorder-'));
    while (databases.length < AT_ONCE) databases.push(await testDatabase());
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  /** Runs a job from its row to the deletion of its MediaJob. */
  const live = async (
    database: TestDatabase,
    { input, plan }: { input: 'there' | 'fetched'; plan: (kill: () => void) => KubeProxyPlan },
  ): Promise<{ life: Life; writes: readonly string[] }> => {
    const home = await makeKubeHome();
    const { client, namespace, admin } = home;
    await grant(client, { user: 'recorder', namespace, access: RECORDER_ACCESS });
    const kubelet = await startFakeKubelet(client, namespace);
    const stopController = startClusterController(client, namespace, false);
    const recorders: ClusterProcess[] = [];
    const kill = (): void => recorders.forEach(({ child }) => void child.kill('SIGKILL'));
    const proxy = await startKubeProxy(admin, plan(kill));
    const clockFile = join(folder, `${namespace}.clock`);
    const start = async (server?: string): Promise<void> => {
      const to = { user: 'recorder', namespace, ...(server === undefined ? {} : { server }) } as const;
      const environment = {
        ...recorderEnvironment({ databaseUrl: database.url, folder }),
        // A separate Lease, so that the successor does not wait for the first one to expire.
        MEDIAJOBS_RELEASE: `release-${recorders.length}`,
        MEDIAJOBS_CLOCK_FILE: clockFile,
      };
      const kubeconfig = await writeKubeconfig(admin, to);
      recorders.push(await startClusterProcess('api/recorder.ts', { kubeconfig, environment }));
    };
    let ahead = 0;
    const moveTo = async (seconds: number): Promise<void> => {
      ahead = Math.max(ahead, seconds);
      await writeFile(clockFile, String(ahead));
    };

    const left = (id: string): Promise<number> => countObjects(home, mediaJobName(id));
    const play = async (): Promise<Life> => {
      await moveTo(0);
      const { id } = await buildJob(database, (await buildAccount(database)).id, {
        inputFilename: 'succeed',
        inputStored: input === 'there',
        createdAt: new Date(),
      });
      await start(proxy.url);
      void proxy.died.then(() => moveTo(TICKET_LATE_SECONDS)).then(() => start());
      if (input === 'fetched') await storeInput(database, { id, home });
      await expect.poll(async () => (await readJob(database, id)).status, POLL).not.toMatch(/queued|processing/);
      await moveTo(AFTER_END_SECONDS);
      await notify(database, CHANGES_CHANNEL, id);
      await expect.poll(() => left(id), POLL).toBe(0);
      const { status, attempt } = await readJob(database, id);
      const { rows } = await database.query<{ count: number }>(
        'select count(*)::int as count from ledger where source_id = $1',
        [id],
      );
      return { status, attempt, charges: rows[0]?.count ?? 0, pods: kubelet.started.length, left: await left(id) };
    };
    try {
      return { life: await play(), writes: proxy.writes };
    } finally {
      stopController();
      await Promise.all(recorders.map((recorder) => recorder.end('SIGKILL')));
      await kubelet.close();
      await proxy.close();
      await home.close();
    }
  };

  describe.each(LIVES)('with an input that is $input', ({ input, writes }) => {
    it('needs these writes of the recorder', async () => {
      const [database] = databases;
      if (database === undefined) throw new Error('No database.');
      const { life, writes: seen } = await live(database, { input, plan: () => ({}) });
      expect(life).toEqual(END);
      expect(seen.map(kindOf)).toEqual(writes);
    });

    it.each(['before', 'after'] as const)('ends the same when the recorder is killed %s any of them', async (when) => {
      const points = writes.map((_, index) => index + 1);
      for (const batch of chunksOf(points, AT_ONCE)) {
        const lives = await Promise.all(
          batch.map((write, index) => {
            const plan = (kill: () => void): KubeProxyPlan => ({ death: { write, when, kill } });
            return live(databases[index] as TestDatabase, { input, plan });
          }),
        );
        expect(lives.map(({ life }) => life)).toEqual(batch.map(() => END));
      }
    });
  });
});

/** Stores the input, as the courier does for a suspended MediaJob. */
async function storeInput(database: TestDatabase, { id, home }: { id: string; home: KubeHome }): Promise<void> {
  await home.whenever(mediaJobName(id), ({ spec }) => spec.suspend);
  await recordInput(database, id, { etag: '"in"', filename: 'succeed', size: 1000 });
  await notify(database, CHANGES_CHANNEL, id);
}

async function countObjects({ client, namespace }: KubeHome, name: string): Promise<number> {
  const [mediaJobs, secrets] = await Promise.all([
    client.list(mediaJobsPath(namespace), {}),
    client.list(`/api/v1/namespaces/${namespace}/secrets`, { labelSelector: `mediajobs.dev/job=${name}` }),
  ]);
  return mediaJobs.items.length + secrets.items.length;
}

/** `DELETE /apis/…/mediajobs/job-x` → `DELETE job`, `POST /api/…/secrets` → `POST secrets`. */
function kindOf(write: string): string {
  const [method, path = ''] = write.split(' ');
  const segments = path.split('/');
  if (method === 'POST') return `POST ${segments.at(-1)}`;
  return `${method} ${segments.at(-2) === 'secrets' ? 'secret' : 'job'}`;
}
