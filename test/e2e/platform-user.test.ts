/** Pods as OpenShift runs them: as a user of the namespace's range whom no account of the image has, with group 0. */
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { DIRECT_KINDS, KINDS } from '#crds/catalogue/formats.ts';
import { kubectl } from '#test/e2e/commands.ts';
import { deployment, PROCESSES } from '#test/e2e/deployments.ts';
import { install } from '#test/e2e/installation.ts';
import { JOB_SECONDS, sample, useService, WORK } from '#test/e2e/use-installation.ts';
import { finished } from '#test/support/run-through.ts';

const USER = 1_000_660_000;
const restricted = { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } };
const { api, createJob, close } = await useService();
const trustedCa = { pem: inject('e2e').receiverAuthority };

describe('an installation whose user the platform sets', () => {
  beforeAll(async () => {
    const securityContext = { ...restricted, runAsUser: USER, runAsGroup: 0, fsGroup: USER };
    // The images of the stores are not ours, and a restart would lose their data.
    const evaluation = { enabled: true, securityContext: { runAsUser: 1000, runAsGroup: 1000, fsGroup: 1000 } };
    await install({ trustedCa, evaluation, defaults: { securityContext } });
  }, 600_000);
  afterAll(async () => {
    await install({ trustedCa });
    await close();
  }, 600_000);

  it.each([...PROCESSES, 'engine'])('runs as that user: the %s', async (process) => {
    expect((await kubectl('exec', deployment(process), '--', 'id', '-u')).trim()).toBe(String(USER));
  });

  it.each(KINDS)('works on a %s as a job', async (kind) => {
    const id = await createJob(WORK[kind]);
    expect(await finished(api, id, JOB_SECONDS)).toMatchObject({ status: 'succeeded', error: null, result: { kind } });
  });

  it.each(DIRECT_KINDS)('works on a %s in a direct request', async (kind) => {
    const { sample: name, operation, to } = WORK[kind];
    const path = `/v1/${operation}?filename=${name}${to === undefined ? '' : `&convert.to=${to}`}`;
    const headers = { 'content-type': 'application/octet-stream' };
    const response = await api('POST', path, { body: sample(name), headers });
    expect(response.status, response.bytes.toString('utf8', 0, 300)).toBe(200);
  });
});
