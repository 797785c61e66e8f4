/** Faults in a cluster: each process reports the fault and its fix, is not ready, and recovers by itself. */
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { mediaJobName } from '#crds/contract/names.ts';
import { withClock } from '#test/e2e/clock.ts';
import { apply, kubectl, kubectlJson, until } from '#test/e2e/commands.ts';
import {
  changePods,
  deployment,
  podsOf,
  PROCESSES,
  rolledOut,
  workerPod,
  type Process,
} from '#test/e2e/deployments.ts';
import { RELEASE } from '#test/e2e/installation.ts';
import { eventMessagesOf } from '#test/e2e/job-in-cluster.ts';
import { expectNothingAmiss } from '#test/e2e/nothing-amiss.ts';
import { JOB_SECONDS, useService, WORK } from '#test/e2e/use-installation.ts';
import { finished } from '#test/support/run-through.ts';

const { api, receiver, createJob, close } = await useService();
afterAll(close);
afterEach(async () => {
  for (const process of PROCESSES) await rolledOut(process);
  await expectNothingAmiss(receiver);
}, 400_000);

/** What the newest pod of a process answers when asked whether it is ready; null: it is, or nobody answers yet. */
async function problemOf(component: Process): Promise<string | null> {
  const newest = ['--sort-by=.metadata.creationTimestamp', '--output', 'jsonpath={.items[-1:].metadata.name}'];
  const pod = await kubectl('get', 'pods', '--selector', podsOf(component), ...newest);
  const ask = `fetch('http://127.0.0.1:9090/readyz').then(async (answer) => console.log(answer.status, await answer.text()))`;
  const response = await kubectl('exec', pod, '--', 'node', '-e', ask).catch(() => '');
  return response === '' || response.startsWith('200') ? null : response.slice(4).trim();
}

async function expectProblem(component: Process, words: RegExp): Promise<void> {
  expect(await until(`a problem of the ${component}`, 120, () => problemOf(component))).toMatch(words);
}

describe('a process', () => {
  it.each([
    ['postgresql', 'api', /PostgreSQL at DATABASE_URL does not answer.*check/],
    ['postgresql', 'recorder', /PostgreSQL at DATABASE_URL does not answer.*check/],
    ['redis', 'api', /Redis.*REDIS_URL/],
    ['s3', 'courier', /bucket.*check/i],
  ] as const)('whose %s is away says so: the %s', async (store, component, words) => {
    const service = `service/${RELEASE}-${store}`;
    const selector = JSON.stringify([{ op: 'add', path: '/spec/selector/away', value: 'yes' }]);
    await kubectl('patch', service, '--type=json', '--patch', selector);
    // Connections that stand go on, and who has reached Redis before does without it for a while.
    if (store !== 's3') await kubectl('rollout', 'restart', deployment(component));
    try {
      await expectProblem(component, words);
    } finally {
      await kubectl('patch', service, '--type=json', '--patch', '[{"op": "remove", "path": "/spec/selector/away"}]');
    }
    await until('its recovery', 120, async () => ((await problemOf(component)) === null ? true : null));
  });

  it.each([
    ['controller', 'jobs', /may not create jobs\.batch in namespace .*: add the verbs to its Role/],
    ['recorder', 'secrets', /may not create secrets in namespace .*: add the verbs to its Role/],
  ] as const)('that may not do its work says which verb is missing: the %s, of %s', async (component, kind, words) => {
    const role = `role/${RELEASE}-${component}`;
    const { rules } = await kubectlJson<{ rules: { resources: string[]; verbs: string[] }[] }>('get', role);
    const fewer = rules.map((rule) =>
      rule.resources.includes(kind) ? { ...rule, verbs: rule.verbs.filter((verb) => verb !== 'create') } : rule,
    );
    const patch = (changed: object): Promise<string> =>
      kubectl('patch', role, '--type=merge', '--patch', JSON.stringify({ rules: changed }));
    await patch(fewer);
    const restore = await changePods(component, {
      containers: [{ name: component, env: [{ name: 'RESTARTED', value: '1' }] }],
    });
    try {
      await expectProblem(component, words);
    } finally {
      await patch(rules);
    }
    await until('its recovery', 60, async () => ((await problemOf(component)) === null ? true : null));
    await restore();
  });

  it('whose Secret is missing is named by the kubelet, and starts when it is there', async () => {
    const env = [{ name: 'EXTRA', valueFrom: { secretKeyRef: { name: 'not-there', key: 'key' } } }];
    const restore = await changePods('courier', { containers: [{ name: 'courier', env }] });
    try {
      await until('the complaint', 60, async () =>
        (await kubectl('describe', 'pods', '-l', podsOf('courier'))).includes('secret "not-there" not found')
          ? true
          : null,
      );
      apply({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'not-there' }, stringData: { key: 'value' } });
      await rolledOut('courier');
    } finally {
      await restore();
    }
    await kubectl('delete', 'secret', 'not-there');
  });
});

describe('a definition of MediaJob that is missing', () => {
  it('is named by the processes that need it, and jobs go on when it is back', async () => {
    const id = await createJob(WORK.font);
    expect(await finished(api, id, JOB_SECONDS)).toMatchObject({ status: 'succeeded' });
    const crd = 'crd/mediajobs.mediajobs.dev';
    const stored = await kubectlJson<{ metadata: object; spec: object }>('get', crd);
    await kubectl('delete', crd);
    const later = await createJob(WORK.font);
    await kubectl('rollout', 'restart', deployment('controller'), deployment('recorder'));
    for (const component of ['controller', 'recorder'] as const)
      await expectProblem(component, /CustomResourceDefinition mediajobs.mediajobs.dev is missing: install the chart/);
    const { metadata, spec } = stored;
    const { name, labels, annotations } = metadata as Record<string, object>;
    apply({
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name, labels, annotations },
      spec,
    });
    expect(await finished(api, later, JOB_SECONDS)).toMatchObject({ status: 'succeeded' });
  });
});

describe('a worker image that cannot be pulled', () => {
  it('is named in the events, and ends the job after 30 minutes', async () => {
    const image = 'registry.invalid/mediajobs-worker:absent';
    const environment = { MEDIAJOBS_WORKER_POD: JSON.stringify({ ...(await workerPod()), image }) };
    const controller = await withClock('controller', { environment });
    try {
      const id = await createJob(WORK.font);
      await until('the event', 120, async () =>
        (await eventMessagesOf(id)).includes(`The image ${image} cannot be pulled`) ? true : null,
      );
      expect(await kubectl('get', 'mediajob', mediaJobName(id))).toContain('Pending');
      await controller.moveTo(31 * 60);
      const job = await finished(api, id, JOB_SECONDS);
      expect(job).toMatchObject({ status: 'failed', error: { code: 'timeout' } });
    } finally {
      await controller.restore();
    }
  });
});
