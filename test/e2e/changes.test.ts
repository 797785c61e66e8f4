/** What an operator does to a release: upgrade and rollback under load, helm's own test, uninstalling. */
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, describe, expect, it } from 'vitest';
import { helm, kubectl, until } from '#test/e2e/commands.ts';
import {
  EARLIER_IMAGE,
  EARLIER_PEPPER,
  IMAGE_OF_SERVICE,
  install,
  RELEASE,
  uninstall,
} from '#test/e2e/installation.ts';
import { expectNothingAmiss } from '#test/e2e/nothing-amiss.ts';
import { JOB_SECONDS, sample, useService, WORK } from '#test/e2e/use-installation.ts';
import { sql } from '#test/e2e/stores.ts';
import { finished } from '#test/support/run-through.ts';

const { api, receiver, createJob, close } = await useService();
afterAll(close);

/** Keeps jobs and direct requests in flight during the change. Returns their outcomes. */
async function underLoad(change: () => Promise<void>): Promise<{ jobs: string[]; answers: string[] }> {
  const jobs: string[] = [];
  /** Of the direct requests. */
  const answers: string[] = [];
  let changing = true;
  const caller = async (): Promise<void> => {
    while (changing) {
      const id = await createJob(WORK.font);
      jobs.push(id);
      expect(await finished(api, id, JOB_SECONDS)).toMatchObject({ status: 'succeeded' });
    }
  };
  const direct = async (): Promise<void> => {
    const headers = { 'content-type': 'application/octet-stream' };
    const path = '/v1/convert?filename=people.csv&convert.to=json';
    while (changing) {
      const { status, bytes } = await api('POST', path, { body: sample('people.csv'), headers });
      answers.push(status === 200 ? 'done' : `${status} ${String(bytes)}`);
      await wait(100);
    }
  };
  const load = Promise.all([...Array.from({ length: CALLERS }, caller), direct()]);
  await Promise.all([
    change().finally(() => {
      changing = false;
    }),
    load,
  ]);
  return { jobs, answers };
}
/** More than one node works on at once. */
const CALLERS = 6;

const imageOfApi = () => kubectl('get', 'deploy', `${RELEASE}-api`, '--output', 'jsonpath={..image}');
/** That of the earlier release, if the tests begin with one. */
const imageBefore = await imageOfApi();
const keys = () => kubectl('get', 'secret', `${RELEASE}-keys`, '--output', 'jsonpath={.data}');

describe('a release', () => {
  it.runIf(EARLIER_IMAGE.tag)('is at first the earlier one', () => {
    expect(imageBefore).toBe(`mediajobs-service:${EARLIER_IMAGE.tag}`);
  });

  it('keeps the keys of the release before, whose chart rendered them, and has those that it lacked', async () => {
    const kept = JSON.parse(await keys()) as Record<string, string>;
    expect(Buffer.from(kept['MEDIAJOBS_KEY_PEPPER'] ?? '', 'base64').toString()).toBe(EARLIER_PEPPER);
    expect(Object.keys(kept)).toContain('MEDIAJOBS_RECEIPT_KEYS');
  });

  it.each([
    ['upgraded', () => install({ trustedCa: { pem: receiver.authority }, logLevel: 'debug' }), IMAGE_OF_SERVICE],
    ['rolled back', () => helm('rollback', RELEASE, '--wait', '--timeout', '8m').then(() => {}), imageBefore],
  ])(
    'loses nothing when it is %s under load',
    async (_how, change, image) => {
      const before = await keys();
      const { jobs, answers } = await underLoad(change);
      expect(await imageOfApi()).toBe(image);
      expect(await keys()).toBe(before);
      expect(jobs.length).toBeGreaterThan(10);
      expect(answers.length).toBeGreaterThan(10);
      expect(answers.filter((response) => response !== 'done')).toEqual([]);
      await expectNothingAmiss(receiver, 600);
      const kept = await sql<{ id: string; status: string }>(
        `select id, status from jobs where id in (${jobs.map((id) => `'${id}'`).join()})`,
      );
      expect(kept.filter(({ status }) => status === 'succeeded')).toHaveLength(jobs.length);
    },
    1_200_000,
  );

  it('passes helm test, which runs a sample job', async () => {
    expect(await helm('test', RELEASE, '--timeout', '5m')).toContain('Succeeded');
  });

  it('leaves nothing behind when it is uninstalled', async () => {
    await uninstall();
    const kinds =
      'pods,deployments,statefulsets,jobs,services,secrets,configmaps,serviceaccounts,roles,rolebindings,networkpolicies,poddisruptionbudgets,leases,persistentvolumeclaims';
    await until('everything to go', 180, async () => {
      const left = (await kubectl('get', kinds, '-o', 'name')).split('\n').filter((name) => name !== '');
      const others =
        /^(service|secret|pod)\/receiver$|^configmap\/kube-root-ca.crt$|^serviceaccount\/default$|^endpoint/;
      return left.every((name) => others.test(name)) ? true : null;
    });
    expect(await kubectl('get', 'crd', '-o', 'name')).not.toContain('mediajobs.dev');
  });
});
