/** Outages of what the service depends on: node, API server, its connections, stores, leader. */
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { withClock } from '#test/e2e/clock.ts';
import { kubectl, until } from '#test/e2e/commands.ts';
import { cutConnections } from '#test/e2e/connection-cutter.ts';
import { leaderOf, podsOf, PROCESSES, rolledOut } from '#test/e2e/deployments.ts';
import { attemptOf, podsOfJob, reach } from '#test/e2e/job-in-cluster.ts';
import { kindNodes, loseNode, restoreNode } from '#test/e2e/kind-nodes.ts';
import { pauseProcess, runsOnNode, signalPods } from '#test/e2e/node-agent.ts';
import { expectNothingAmiss, objectsOfJobs } from '#test/e2e/nothing-amiss.ts';
import { JOB_SECONDS, LONG_WORK, useService, WORK, type SampleWork } from '#test/e2e/use-installation.ts';
import { objectKeys } from '#test/e2e/stores.ts';
import { finished } from '#test/support/run-through.ts';

const { api, receiver, createJob, close } = await useService();
afterAll(close);
afterEach(async () => {
  await expectNothingAmiss(receiver, 240);
  for (const process of PROCESSES) await rolledOut(process);
}, 500_000);

/** Creates jobs one after another until the fault is over. Returns their ids. */
async function during(fault: Promise<unknown>, everyMs = 3000): Promise<string[]> {
  const ids: string[] = [];
  let over = false;
  const ended = fault.finally(() => {
    over = true;
  });
  while (!over) {
    ids.push(await createWithRetries(ids.length % 3 === 0 ? WORK.image : WORK.font));
    await Promise.race([wait(everyMs), ended.catch(() => {})]);
  }
  await ended;
  return ids;
}

/** Creates a job as a client that retries while the service has no database. Returns its id. */
function createWithRetries(work: SampleWork): Promise<string> {
  return until('a job to be accepted', 60, () => createJob(work).catch(() => null));
}

async function expectAllSucceed(ids: readonly string[]): Promise<void> {
  for (const id of ids) expect(await finished(api, id, JOB_SECONDS)).toMatchObject({ id, status: 'succeeded' });
}

const STORES = ['postgresql', 'redis', 's3'] as const;

describe('jobs survive', () => {
  it('an API server that is paused for 60 seconds', async ({ skip }) => {
    if (!(await runsOnNode('kube-apiserver'))) skip('the control plane is elsewhere');
    const before = await createJob(LONG_WORK);
    await reach(before, 'is running');
    await pauseProcess('kube-apiserver', { seconds: 60 });
    const ids = await during(wait(60_000), 6000);
    await expectAllSucceed([before, ...ids]);
  }, 600_000);

  it('a kubelet that is paused for 80 seconds while their process dies', async ({ skip }) => {
    if (!(await runsOnNode('kubelet'))) skip('the node is elsewhere');
    const id = await createJob(LONG_WORK);
    await reach(id, 'is running');
    await pauseProcess('kubelet', { seconds: 80, killing: podsOfJob(id) });
    await until('the node to be NotReady', 120, async () =>
      /NotReady/.test(await kubectl('get', 'nodes')) ? true : null,
    );
    await expectAllSucceed([id]);
    expect(await attemptOf(id)).toBe(2);
  }, 600_000);

  it('a node that is lost while it runs one of them', async ({ skip }) => {
    const nodes = await kindNodes();
    if (nodes.length < 3) skip('no node is free of stores');
    const lost = await nodeWithoutService(nodes);
    const others = nodes.filter((node) => node !== lost);
    await kubectl('cordon', ...others);
    const id = await createJob(LONG_WORK);
    try {
      await reach(id, 'is running');
    } finally {
      await kubectl('uncordon', ...others);
    }
    await loseNode(lost);
    try {
      await expectAllSucceed([id]);
      expect(await attemptOf(id)).toBe(2);
    } finally {
      await restoreNode(lost);
    }
  }, 900_000);

  it('connections to the API server that break every 5 seconds', async () => {
    const restore = await cutConnections(['controller', 'recorder'], { everySeconds: 5 });
    try {
      await expectAllSucceed(await during(wait(30_000), 2000));
    } finally {
      await restore();
    }
  }, 600_000);

  it('a leading controller that is paused until another one leads, and then resumed', async () => {
    const first = await leaderOf('controller');
    const ids = [await createJob(LONG_WORK)];
    await reach(ids[0] ?? '', 'has a pod');
    await signalPods(podsOf('controller'), 'STOP', first);
    const second = await until('another leader', 60, async () => {
      const leader = await leaderOf('controller');
      return leader === first ? null : leader;
    });
    ids.push(
      ...(await during(
        signalPods(podsOf('controller'), 'CONT', first).then(() => wait(6000)),
        1000,
      )),
    );
    await expectAllSucceed(ids);
    expect(await leaderOf('controller')).toBe(second);
  }, 600_000);

  it.each(STORES)(
    '%s being killed',
    async (store) => {
      const ids = [await createJob(LONG_WORK)];
      await reach(ids[0] ?? '', 'is running');
      const before = await restartsOf(store);
      await signalPods(podsOf(store), 'KILL');
      ids.push(...(await during(isBack(store, before), 1000)));
      await expectAllSucceed(ids);
    },
    600_000,
  );
});

/** Empties a node that has no store, whose files would be lost with it, and no control plane, which no other node has. */
async function nodeWithoutService(nodes: readonly string[]): Promise<string> {
  const onNodes = 'jsonpath={.items[*].spec.nodeName}';
  const role = 'node-role.kubernetes.io/control-plane';
  const controlPlane = await kubectl(
    'get',
    'nodes',
    '--selector',
    role,
    '--output',
    'jsonpath={.items[*].metadata.name}',
  );
  const stores = `app.kubernetes.io/component in (${STORES.join()})`;
  const taken = (await kubectl('get', 'pods', '--selector', stores, '--output', onNodes)).split(' ');
  const receivers = (await kubectl('get', 'pods', '--selector', 'app=receiver', '--output', onNodes)).split(' ');
  const occupied = [...taken, ...receivers, ...controlPlane.split(' ')];
  const free = nodes.find((node) => !occupied.includes(node));
  if (free === undefined) throw new Error('each node has a store');
  await kubectl('cordon', free);
  await kubectl('delete', 'pods', '--field-selector', `spec.nodeName=${free}`);
  for (const process of PROCESSES) await rolledOut(process);
  await kubectl('uncordon', free);
  return free;
}

async function restartsOf(store: string): Promise<number> {
  const path = 'jsonpath={.items[0].status.containerStatuses[0].restartCount}';
  return Number(await kubectl('get', 'pods', '--selector', podsOf(store), '--output', path));
}

function isBack(store: string, restartsBefore: number): Promise<boolean> {
  return until(`${store} to be back`, 120, async () => {
    const pods = await kubectl('get', 'pods', '--no-headers', '--selector', podsOf(store));
    return (await restartsOf(store)) > restartsBefore && / 1\/1 /.test(pods) ? true : null;
  });
}

describe('a cancellation', () => {
  /** Number of races. E2E_ROUNDS=100 runs all of them; fewer keep a usual run short. */
  const ROUNDS = Number(process.env['E2E_ROUNDS'] ?? 30);
  const AT_ONCE = 3;

  it(`and the end of its job are decided once, in ${ROUNDS} races`, async () => {
    const typical = await secondsOfJob();
    let round = 0;
    const ends: string[] = [];
    const race = async (): Promise<void> => {
      while (round < ROUNDS) {
        round += 1;
        const id = await createJob(WORK.font);
        // Around the usual end, which the machine's other work moves: from right after the request to well after the end.
        await wait(typical * 1000 * ((round % 10) / 6));
        const response = await api('DELETE', `/v1/jobs/${id}`);
        expect(response.status).toBe(200);
        const { status } = response.json();
        expect(['succeeded', 'canceled']).toContain(status);
        expect((await finished(api, id, 30))['status']).toBe(status);
        ends.push(String(status));
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, race));
    expect(new Set(ends)).toEqual(new Set(['succeeded', 'canceled']));
  }, 900_000);

  async function secondsOfJob(): Promise<number> {
    const started = performance.now();
    const ids = await Promise.all(Array.from({ length: AT_ONCE }, () => createJob(WORK.font)));
    await expectAllSucceed(ids);
    return (performance.now() - started) / 1000;
  }
});

describe('time', () => {
  it('leaves no MediaJob, pod, Secret or file of any of these jobs', async () => {
    // Hourly loops also run at the start.
    const { restore } = await withClock('recorder', { ahead: 8 * 86_400 });
    try {
      await until('the objects to be deleted', 180, async () => ((await objectsOfJobs()).length === 0 ? true : null));
      let left: readonly string[] = [];
      await until('the files to be deleted', 120, async () =>
        (left = await objectKeys()).length === 0 ? true : null,
      ).catch(() => expect(left).toEqual([]));
    } finally {
      await restore();
    }
  }, 600_000);
});
