import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { mediaJobsPath } from '#crds/media-jobs/kubernetes-media-jobs.ts';
import type { MediaJobSpec, MediaJobStatus } from '#crds/contract/media-job.ts';
import { mediaJobName } from '#crds/contract/names.ts';
import { withoutNulls } from '#crds/contract/wire-form.ts';
import { buildReport, buildSpec, buildStatus, jobIdOf } from '#test/support/build-media-job.ts';
import { makeKubeHome, type KubeHome } from '#test/support/kube-home.ts';

describe('the MediaJob CRD on an API server', () => {
  let home: KubeHome;
  let path: string;
  let jobs = 0;
  let name: string;

  const create = (changes: object = {}, as = name): Promise<unknown> => {
    const spec = {
      ...withoutNulls(buildSpec({ jobId: jobIdOf(jobs), suspend: true, inputSize: null, kind: null })),
      ...changes,
    };
    return home.client.create(path, {
      apiVersion: 'mediajobs.dev/v1',
      kind: 'MediaJob',
      metadata: { name: as },
      spec,
    });
  };
  const patch = (spec: Partial<Record<keyof MediaJobSpec, unknown>>): Promise<unknown> =>
    home.client.mergePatch(`${path}/${name}`, { spec });
  const patchStatus = (status: Partial<MediaJobStatus>): Promise<unknown> =>
    home.client.mergePatch(`${path}/${name}/status`, { status });

  beforeAll(async () => {
    home = await makeKubeHome();
    path = mediaJobsPath(home.namespace);
  });
  afterAll(() => home.close());
  beforeEach(() => {
    jobs += 1;
    name = mediaJobName(jobIdOf(jobs));
  });

  it.each<[string, object, string]>([
    ['an operation that does not exist', { operation: 'eat' }, 'spec.operation: Unsupported value: "eat"'],
    ['an id of another form', { jobId: 'job_1' }, "spec.jobId in body should match '^job_[0-9a-z]{20}$'"],
    ['a size below nothing', { inputSize: -1 }, 'spec.inputSize in body should be greater than or equal to 0'],
    ['a kind that does not exist', { kind: 'cake' }, 'spec.kind in body should match'],
    ['an attempt that cannot be', { firstAttempt: 10 }, 'spec.firstAttempt in body should be less than or equal to 9'],
    ['an account that is too long', { account: 'x'.repeat(64) }, 'spec.account: Too long'],
    ['a time that is none', { waitUntil: 'soon' }, 'spec.waitUntil in body must be of type date-time'],
    ['no options', { options: undefined }, 'spec.options: Required value'],
  ])('refuses %s', async (_what, changes, message) => {
    await expect(create(changes)).rejects.toMatchObject({ status: 422, message: expect.stringContaining(message) });
  });

  it('refuses a name other than that of the job', async () => {
    await expect(create({}, 'my-job')).rejects.toMatchObject({
      status: 422,
      message: expect.stringContaining('metadata.name must be spec.jobId'),
    });
  });

  it('drops unknown fields', async () => {
    expect(await create({ secretUrl: 'http://x' })).not.toHaveProperty('spec.secretUrl');
  });

  it.each<[string, Partial<Record<keyof MediaJobSpec, unknown>>]>([
    ['operation', { operation: 'convert' }],
    ['account', { account: 'acc_other' }],
    ['startedAt', { startedAt: '2026-01-01T00:00:00Z' }],
    ['limits', { limits: { maxPages: 1 } }],
    ['options', { options: { image: { quality: 1 } } }],
    ['secretName', { secretName: 'other' }],
  ])('refuses a change of %s', async (_what, changes) => {
    await create();
    await expect(patch(changes)).rejects.toMatchObject({
      status: 422,
      message: expect.stringContaining('The spec is immutable, except that a suspension may be lifted.'),
    });
  });

  it('allows one lift of the suspension, with size and kind of the input', async () => {
    await create();
    await patch({ suspend: false, inputSize: 5, kind: 'image' });
    await expect(patch({ suspend: true })).rejects.toMatchObject({
      message: expect.stringContaining('A MediaJob that was resumed cannot be suspended again.'),
    });
    await expect(patch({ inputSize: 6 })).rejects.toMatchObject({
      message: expect.stringContaining('inputSize and kind may change only while the MediaJob is suspended.'),
    });
  });

  it.each<[string, Partial<MediaJobStatus>]>([
    ['Succeeded', { phase: 'Succeeded', percent: 100, report: buildReport() }],
    ['Failed', { phase: 'Failed', error: { code: 'internal', message: 'No.' } }],
  ])('refuses a change of a status that is %s', async (_what, final) => {
    await create();
    await patchStatus(buildStatus({ attempt: 1, ...final }));
    for (const late of [{ phase: 'Running' }, { percent: 1 }, { message: 'late' }, { attempt: 2 }] as const)
      await expect(patchStatus(late)).rejects.toMatchObject({
        status: 422,
        message: expect.stringContaining('A final status must not change.'),
      });
  });

  it('refuses a lower attempt', async () => {
    await create();
    await patchStatus(buildStatus({ attempt: 2 }));
    await expect(patchStatus({ attempt: 1 })).rejects.toMatchObject({
      message: expect.stringContaining('The attempt must not decrease: this write is stale.'),
    });
  });

  it('ignores the status in a write of the MediaJob', async () => {
    await create();
    await home.client.mergePatch(`${path}/${name}`, { status: buildStatus({ attempt: 3 }) });
    expect(await home.client.get(`${path}/${name}`)).toHaveProperty('status.attempt', 0);
  });

  it('has the phase Pending after its creation', async () => {
    await create({ account: 'acc_pending' });
    const { items } = await home.client.list(path, { fieldSelector: 'status.phase=Pending,spec.account=acc_pending' });
    expect(items.map(({ status }) => status)).toEqual([{ phase: 'Pending', attempt: 0, percent: 0 }]);
  });

  it('selects by phase and by account', async () => {
    await create({ account: 'acc_selected' });
    await patchStatus(buildStatus({ phase: 'Running', attempt: 1 }));
    const { items } = await home.client.list(path, { fieldSelector: 'status.phase=Running,spec.account=acc_selected' });
    expect(items.map(({ metadata }) => metadata.name)).toEqual([name]);
  });

  it('is displayed as a table', async () => {
    await create();
    await patch({ suspend: false, inputSize: 5, kind: 'image' });
    const crd = await home.client.get(
      '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/mediajobs.mediajobs.dev',
    );
    expect(crd).toMatchObject({
      spec: {
        names: { shortNames: ['mj'], categories: ['media'] },
        versions: [
          { additionalPrinterColumns: expect.arrayContaining([expect.objectContaining({ name: 'Percent' })]) },
        ],
      },
      status: {
        conditions: expect.arrayContaining([expect.objectContaining({ type: 'Established', status: 'True' })]),
      },
    });
  });
});
