/** Every kind of work on a real cluster, and what kubectl shows of it. */
import { afterAll, describe, expect, it } from 'vitest';
import { DIRECT_KINDS, KINDS } from '#crds/catalogue/formats.ts';
import { mediaJobName } from '#crds/contract/names.ts';
import { apply, kubectl, kubectlJson, until } from '#test/e2e/commands.ts';
import { webhooksOf } from '#test/e2e/receiver-pod.ts';
import { JOB_SECONDS, sample, useService, WORK } from '#test/e2e/use-installation.ts';
import { finished } from '#test/support/run-through.ts';

const { api, receiver, createJob, close } = await useService();
afterAll(close);

describe('an installation', () => {
  it.each(KINDS)('works on a %s as a job, with one webhook', async (kind) => {
    const id = await createJob(WORK[kind], { webhook_url: `${receiver.url}/${kind}` });
    const job = await finished(api, id, JOB_SECONDS);
    expect(job).toMatchObject({ status: 'succeeded', error: null, result: { kind } });
    const output = await api('GET', String(job['result'].download_url), { key: null });
    expect([output.status, output.bytes.length]).toEqual([200, job['result'].output_size]);
    const webhooks = await webhooksOf(receiver, id);
    expect(webhooks.map(({ path }) => path)).toEqual([`/${kind}`]);
    expect(JSON.parse(webhooks[0]?.text ?? '')).toMatchObject({ type: 'job.succeeded' });
  });

  it.each(DIRECT_KINDS)('works on a %s in a direct request', async (kind) => {
    const { sample: name, operation, to } = WORK[kind];
    const path = `/v1/${operation}?filename=${name}${to === undefined ? '' : `&convert.to=${to}`}`;
    const headers = { 'content-type': 'application/octet-stream' };
    const response = await api('POST', path, { body: sample(name), headers });
    expect(response.status, response.bytes.toString('utf8', 0, 300)).toBe(200);
    expect(response.bytes.length).toBeGreaterThan(100);
  });

  it('fetches input.url and uploads to output.url', async () => {
    const json = {
      operation: 'compress',
      input: { url: `${receiver.url}/photo.jpg` },
      output: { url: `${receiver.url}/result`, headers: { 'X-Mark': 'e2e' } },
    };
    const created = await api('POST', '/v1/jobs', { json });
    expect(created.status, created.bytes.toString()).toBe(202);
    const job = await finished(api, String(created.json()['id']), JOB_SECONDS);
    expect(job).toMatchObject({ status: 'succeeded' });
    const [put] = (await receiver.received()).filter(({ path }) => path === '/result');
    expect(put).toMatchObject({ method: 'PUT', size: job['result'].output_size, headers: { 'x-mark': 'e2e' } });
  });

  it('shows jobs in kubectl get mediajobs, and their story in kubectl describe', async () => {
    const id = await createJob(WORK.image);
    await finished(api, id, JOB_SECONDS);
    const table = await kubectl('get', 'mediajobs');
    expect(table).toMatch(/^NAME +OPERATION +KIND +STATUS +REASON +PERCENT +ATTEMPT +AGE/);
    expect(table).toMatch(new RegExp(`${mediaJobName(id)} +compress +image +Succeeded +Succeeded +100 +1 `));
    expect(await kubectl('describe', 'mediajob', mediaJobName(id))).toMatch(/Events:[\s\S]*Succeeded/);
  });

  it('ends a job that is canceled, and leaves no pod of it', async () => {
    const id = await createJob(WORK.video);
    const canceled = await api('DELETE', `/v1/jobs/${id}`);
    expect(canceled.json()).toMatchObject({ status: 'canceled' });
    await until('the pods of the canceled job to go', 90, async () => {
      const pods = await kubectlJson<{ items: unknown[] }>(
        'get',
        'pods',
        '-l',
        `mediajobs.dev/job=${mediaJobName(id)}`,
      );
      return pods.items.length === 0 ? true : null;
    });
  });

  it('refuses a wrong MediaJob, and removes one of its own that no record stands for', async () => {
    const [some] = (
      await kubectlJson<{ items: { spec: object; metadata: { labels: Record<string, string> } }[] }>('get', 'mediajobs')
    ).items;
    const mediaJob = (digit: number, spec: object, labels: object = {}) => ({
      apiVersion: 'mediajobs.dev/v1',
      kind: 'MediaJob',
      metadata: { name: `job-${String(digit).repeat(20)}`, labels },
      spec: { ...some?.spec, jobId: `job_${String(digit).repeat(20)}`, ...spec },
    });
    expect(() => apply(mediaJob(0, { operation: 'explode' }))).toThrow(/Unsupported value: "explode"/);
    const [own, foreign] = [mediaJob(1, {}, some?.metadata.labels), mediaJob(2, {})];
    apply(foreign);
    apply(own);
    const names = () => kubectl('get', 'mediajobs', '-o', 'name');
    await until('the stray MediaJob to go', 120, async () => {
      return (await names()).includes(own.metadata.name) ? null : true;
    });
    expect(await names()).toContain(foreign.metadata.name);
    await kubectl('delete', 'mediajob', foreign.metadata.name);
  });
});
