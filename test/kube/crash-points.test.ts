import { describe, expect, it } from 'vitest';
import { freePorts } from '#api/embedded/free-ports.ts';
import { CONTROLLER_ACCESS } from '#controller/cluster-access.ts';
import { jobsPath } from '#controller/run-objects.ts';
import { heartbeatToken } from '#crds/contract/heartbeat-token.ts';
import type { MediaJobStatus } from '#crds/contract/media-job.ts';
import { mediaJobName } from '#crds/contract/names.ts';
import { buildNewMediaJob, jobIdOf } from '#test/support/build-media-job.ts';
import { chunksOf } from '#test/support/chunks-of.ts';
import { startClusterController } from '#test/support/cluster-controller.ts';
import { HEARTBEAT_KEY, startClusterProcess, type ClusterProcess } from '#test/support/cluster-process.ts';
import { startFakeKubelet } from '#test/support/fake-kubelet.ts';
import { grant, writeKubeconfig } from '#test/support/kube-connection.ts';
import { makeKubeHome, type KubeHome } from '#test/support/kube-home.ts';
import { startKubeProxy, TROUBLES, type KubeProxy, type KubeProxyPlan } from '#test/support/kube-proxy.ts';

interface Life {
  readonly phase: string | undefined;
  readonly attempt: number | undefined;
  /** Names of the Jobs, in order. */
  readonly jobs: readonly string[];
  /** Maximum number of concurrent pods of one attempt. */
  readonly podsOfOneAttempt: number;
}

/** Files with the required end of their job, whatever happens to the controller, and its number of attempts. */
const LIVES = [
  {
    behaviour: 'succeed-heard',
    end: { phase: 'Succeeded', attempt: 1, jobs: ['a1'], podsOfOneAttempt: 1 },
    writes: ['POST jobs', 'PATCH status', 'PATCH status'],
  },
  {
    behaviour: 'crash',
    end: { phase: 'Failed', attempt: 3, jobs: ['a1', 'a2', 'a3'], podsOfOneAttempt: 1 },
    writes: [
      'POST jobs',
      'PATCH status',
      // Each further attempt is recorded before its Job.
      'PATCH status',
      'POST jobs',
      'PATCH status',
      'PATCH status',
      'POST jobs',
      'PATCH status',
      'PATCH status',
    ],
  },
] as const;

/** Maximum number of concurrent lives. Each has its own processes. */
const AT_ONCE = 3;
const JOB = jobIdOf(1);
const NAME = mediaJobName(JOB);

/** Runs a job from its start to its end. */
async function live(behaviour: string, play: (home: KubeHome) => Promise<() => unknown>): Promise<Life> {
  const home = await makeKubeHome();
  const kubelet = await startFakeKubelet(home.client, home.namespace);
  const waitUntil = new Date(Date.now() + 1_800_000).toISOString();
  const key = Buffer.from(HEARTBEAT_KEY, 'base64');
  const heartbeatTokens = [1, 2, 3].map((attempt) => heartbeatToken(key, JOB, attempt));
  await home.mediaJobs.create(buildNewMediaJob({ jobId: JOB, waitUntil }, { filename: behaviour, heartbeatTokens }));
  let stop: () => unknown = () => undefined;
  let status: MediaJobStatus | undefined;
  let jobs: readonly string[] = [];
  try {
    stop = await play(home);
    status = (await home.whenFinal(NAME)).status;
    const { items } = await home.client.list(jobsPath(home.namespace), {});
    jobs = items.map(({ metadata }) => metadata.name.slice(NAME.length + 1)).toSorted();
  } finally {
    await stop();
    await kubelet.close();
    await home.close();
  }
  const counts = Map.groupBy(kubelet.started, (pod) => pod.slice(0, pod.lastIndexOf('-')));
  return {
    phase: status?.phase,
    attempt: status?.attempt,
    jobs,
    podsOfOneAttempt: Math.max(...[...counts.values()].map((pods) => pods.length)),
  };
}

/** A controller behind a proxy and, after it was killed, its successor. */
const controlled =
  (plan: (kill: () => void) => KubeProxyPlan, onEnd: (proxy: KubeProxy) => void = () => undefined) =>
  async (home: KubeHome): Promise<() => Promise<void>> => {
    const { client, namespace, admin } = home;
    await grant(client, { user: 'controller', namespace, access: CONTROLLER_ACCESS });
    const controllers: ClusterProcess[] = [];
    const kill = (): void => controllers.forEach(({ child }) => void child.kill('SIGKILL'));
    const proxy = await startKubeProxy(admin, plan(kill));
    const [port] = (await freePorts(1)) as [number];
    const start = async (server?: string): Promise<void> => {
      const kubeconfig = await writeKubeconfig(admin, { user: 'controller', namespace, ...given(server) });
      const environment = {
        // A separate Lease, so that the successor does not wait for the first one to expire.
        MEDIAJOBS_RELEASE: `release-${controllers.length}`,
        MEDIAJOBS_HEARTBEAT_PORT: String(port),
        MEDIAJOBS_HEARTBEAT_URL: `http://127.0.0.1:${port}/heartbeat`,
      };
      controllers.push(await startClusterProcess('controller/main.ts', { kubeconfig, environment }));
    };
    await start(proxy.url);
    void proxy.died.then(() => start());
    return async () => {
      onEnd(proxy);
      await Promise.all(controllers.map((controller) => controller.end('SIGKILL')));
      await proxy.close();
    };
  };

describe.each(LIVES)('a job whose worker would $behaviour', ({ behaviour, end, writes }) => {
  it('needs these writes of the controller', async () => {
    let seen: readonly string[] = [];
    const count = controlled(
      () => ({}),
      (proxy) => {
        seen = proxy.writes.map(kindOf);
      },
    );
    expect(await live(behaviour, count)).toEqual(end);
    expect(seen).toEqual(writes);
  });

  it.each(['before', 'after'] as const)('ends the same when its controller is killed %s any of them', async (when) => {
    const points = writes.map((_, index) => index + 1);
    for (const batch of chunksOf(points, AT_ONCE)) {
      const dying = batch.map((write) => controlled((kill) => ({ death: { write, when, kill } })));
      const lives = await Promise.all(dying.map((play) => live(behaviour, play)));
      expect(lives).toEqual(batch.map(() => end));
    }
  });

  it('ends the same when watches and requests of its controller fail', async () => {
    for (const batch of chunksOf(TROUBLES, AT_ONCE)) {
      const lives = await Promise.all(
        batch.map((trouble) =>
          live(
            behaviour,
            controlled(() => ({ trouble })),
          ),
        ),
      );
      expect(lives).toEqual(batch.map(() => end));
    }
  });

  it('ends the same with two controllers that both act as the leader', async () => {
    const twice = async ({ client, namespace }: KubeHome): Promise<() => void> => {
      const stops = [client, client].map((each) => startClusterController(each, namespace));
      return () => stops.forEach((stop) => stop());
    };
    expect(await live(behaviour === 'crash' ? 'crash' : 'succeed', twice)).toEqual(end);
  });
});

function given(server: string | undefined): { server?: string } {
  return server === undefined ? {} : { server };
}

/** `PATCH /apis/…/mediajobs/job-x/status` → `PATCH status`, `POST /apis/…/jobs` → `POST jobs`. */
function kindOf(write: string): string {
  const [method = '', address = ''] = write.split(' ');
  return `${method} ${address.split('/').at(-1)}`;
}
