import { beforeAll, describe, expect, it } from 'vitest';
import { jobsPath } from '#controller/kubernetes-runs.ts';
import { mediaJobName } from '#crds/names.ts';
import { buildNewMediaJob, jobIdOf } from '#test/support/build-media-job.ts';
import { startClusterController } from '#test/support/cluster-controller.ts';
import { makeDyingClient } from '#test/support/dying-client.ts';
import { startFakeKubelet } from '#test/support/fake-kubelet.ts';
import { makeKubeHome, type KubeHome } from '#test/support/kube-home.ts';
import { TROUBLES, withTrouble } from '#test/support/troubled-watch.ts';
import type { KubeClient } from '#crds/kube/kube-client.ts';

interface Life {
  readonly phase: string | undefined;
  readonly attempt: number | undefined;
  /** Names of the Jobs, in order. */
  readonly jobs: readonly string[];
  /** Most pods that one attempt had at work. */
  readonly podsOfOneAttempt: number;
}

/** What a file is like, and how its job has to end whatever happens to the controller. */
const LIVES = [
  { behaviour: 'succeed', end: { phase: 'Succeeded', attempt: 1, jobs: ['a1'], podsOfOneAttempt: 1 } },
  { behaviour: 'crash', end: { phase: 'Failed', attempt: 3, jobs: ['a1', 'a2', 'a3'], podsOfOneAttempt: 1 } },
] as const;

/** Lives a job from its start to its end. */
async function live(behaviour: string, play: (home: KubeHome) => Promise<() => void>): Promise<Life> {
  const home = await makeKubeHome();
  const kubelet = await startFakeKubelet(home.client, home.namespace);
  const jobId = jobIdOf(1);
  const name = mediaJobName(jobId);
  const waitUntil = new Date(Date.now() + 1_800_000).toISOString();
  await home.mediaJobs.create(buildNewMediaJob({ jobId, waitUntil }, { filename: behaviour }));
  const stop = await play(home);
  const { status } = await home.whenFinal(name);
  const { items } = await home.client.list(jobsPath(home.namespace), {});
  stop();
  await kubelet.close();
  await home.close();
  const counts = Map.groupBy(kubelet.started, (pod) => pod.slice(0, pod.lastIndexOf('-')));
  return {
    phase: status?.phase,
    attempt: status?.attempt,
    jobs: items.map(({ metadata }) => metadata.name.slice(name.length + 1)).toSorted(),
    podsOfOneAttempt: Math.max(...[...counts.values()].map((pods) => pods.length)),
  };
}

/** A controller that dies at that write, and the next one. */
const dyingAt =
  (write: number, when: 'before' | 'after') =>
  async ({ client, namespace, whenFinal }: KubeHome): Promise<() => void> => {
    const dying = makeDyingClient(client, { write, when });
    const stopFirst = startClusterController(dying, namespace);
    // A worker that was quick leaves no running phase to write: then this write never comes.
    await Promise.race([dying.died, whenFinal(mediaJobName(jobIdOf(1)))]);
    stopFirst();
    return startClusterController(client, namespace);
  };

describe.each(LIVES)('a job whose worker would $behaviour', ({ behaviour, end }) => {
  let writes = 0;

  beforeAll(async () => {
    await live(behaviour, async ({ client, namespace }) => {
      const counting = makeDyingClient(client, null);
      const stop = startClusterController(counting, namespace);
      return () => {
        writes = counting.writes();
        stop();
      };
    });
  });

  it.each(['before', 'after'] as const)('ends the same when its controller dies %s any of its writes', async (when) => {
    expect(writes).toBeGreaterThan(3);
    const points = Array.from({ length: writes }, (_, index) => index + 1);
    for (const batch of chunksOf(points, 4)) {
      const lives = await Promise.all(batch.map((write) => live(behaviour, dyingAt(write, when))));
      expect(lives).toEqual(batch.map(() => end));
    }
  });

  it.each(TROUBLES)('ends the same when its controller watches badly: %s', async (trouble) => {
    const watchBadly = async ({ client, namespace }: KubeHome): Promise<() => void> =>
      startClusterController(withTrouble(client, trouble), namespace);
    expect(await live(behaviour, watchBadly)).toEqual(end);
  });

  it('ends the same with two controllers that both believe to lead', async () => {
    const twice = async ({ client, namespace }: KubeHome): Promise<() => void> => {
      const stops = [client, client].map((each: KubeClient) => startClusterController(each, namespace));
      return () => stops.forEach((stop) => stop());
    };
    expect(await live(behaviour, twice)).toEqual(end);
  });
});

function chunksOf<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  );
}
