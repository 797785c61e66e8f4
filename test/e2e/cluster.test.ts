/** The whole service on a real cluster, from `helm install` to `helm uninstall`. The tests build on each other. */
import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DIRECT_KINDS, KINDS, type Kind } from '#crds/formats.ts';
import { mediaJobName } from '#crds/names.ts';
import { apply, helm, kubectl, kubectlJson, NAMESPACE, until } from '#test/e2e/commands.ts';
import { connectToApi, IMAGE_OF_SERVICE, install, mediactl, RELEASE, uninstall } from '#test/e2e/installation.ts';
import { startReceiverPod, webhooksOf, type ReceiverPod } from '#test/e2e/receiver-pod.ts';
import type { ApiClient } from '#test/support/api-client.ts';
import { finished, upload } from '#test/support/run-through.ts';

interface Work {
  readonly sample: string;
  readonly operation: 'compress' | 'convert';
  readonly to?: string;
}
const WORK: Readonly<Record<Kind, Work>> = {
  image: { sample: 'photo.jpg', operation: 'compress' },
  pdf: { sample: 'report.pdf', operation: 'compress' },
  video: { sample: 'clip.mkv', operation: 'compress' },
  audio: { sample: 'talk.wav', operation: 'convert', to: 'mp3' },
  word: { sample: 'letter.docx', operation: 'convert', to: 'pdf' },
  sheet: { sample: 'budget.xlsx', operation: 'convert', to: 'pdf' },
  presentation: { sample: 'slides.pptx', operation: 'convert', to: 'pdf' },
  table: { sample: 'people.csv', operation: 'convert', to: 'xlsx' },
  font: { sample: 'typeface.ttf', operation: 'convert', to: 'woff2' },
};
const JOB_SECONDS = 240;

let receiver: ReceiverPod;
let api: ApiClient;

beforeAll(async () => {
  apply({
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: NAMESPACE, labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } },
  });
  receiver = await startReceiverPod(IMAGE_OF_SERVICE);
  await install({ extraCa: receiver.authority });
  const account = await mediactl(
    'account',
    'create',
    '--name',
    'e2e',
    '--plan',
    'growth',
    '--payment-method',
    '--feature',
    'video',
  );
  const made = await mediactl('key', 'create', '--account', String(account['id']), '--mode', 'live', '--name', 'e2e');
  api = await connectToApi(String(made['key']));
}, 900_000);
afterAll(async () => {
  await api?.close();
  await kubectl('delete', 'namespace', NAMESPACE, '--wait=true', '--timeout=180s');
});

const sample = (name: string): Buffer => readFileSync(`api/samples/files/${name}`);
async function createJob({ sample: name, operation, to }: Work, more: object = {}): Promise<string> {
  const input = { upload: await upload(api, sample(name), name) };
  const options = to === undefined ? {} : { convert: { to } };
  const created = await api('POST', '/v1/jobs', { json: { operation, input, options, ...more } });
  expect(created.status, created.bytes.toString()).toBe(202);
  return String(created.json()['id']);
}

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
    const answer = await api('POST', path, { body: sample(name), headers });
    expect(answer.status, answer.bytes.toString('utf8', 0, 300)).toBe(200);
    expect(answer.bytes.length).toBeGreaterThan(100);
  });

  it('fetches input.url and delivers to output.url', async () => {
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
    expect(table).toMatch(/^NAME +OPERATION +KIND +STATUS +PERCENT +ATTEMPT +AGE/);
    expect(table).toMatch(new RegExp(`${mediaJobName(id)} +compress +image +Succeeded +100 +1 `));
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

  it('runs a job again whose pod was deleted', async () => {
    const id = await createJob(WORK.video);
    const selector = `mediajobs.dev/job=${mediaJobName(id)}`;
    const pod = await until('a running pod', 120, async () => {
      const name = await kubectl(
        'get',
        'pods',
        '-l',
        selector,
        '--field-selector',
        'status.phase=Running',
        '-o',
        'name',
      );
      return name.trim() === '' ? null : name.trim();
    });
    await kubectl('delete', pod, '--grace-period=0', '--force');
    expect(await finished(api, id, JOB_SECONDS)).toMatchObject({ status: 'succeeded' });
    expect(await kubectl('get', 'mediajob', mediaJobName(id), '-o', 'jsonpath={.status.attempt}')).toBe('2');
  });

  it('refuses a wrong MediaJob, and removes one that no record stands for', async () => {
    const [some] = (await kubectlJson<{ items: { spec: object }[] }>('get', 'mediajobs')).items;
    const mediaJob = (spec: object) => ({
      apiVersion: 'mediajobs.dev/v1',
      kind: 'MediaJob',
      metadata: { name: 'job-00000000000000000000' },
      spec,
    });
    expect(() => apply(mediaJob({ ...some?.spec, operation: 'explode' }))).toThrow(/Unsupported value: "explode"/);
    apply(mediaJob({ ...some?.spec, jobId: 'job_00000000000000000000' }));
    await until('the stray MediaJob to go', 120, async () => {
      const names = await kubectl('get', 'mediajobs', '-o', 'name');
      return names.includes('job-00000000000000000000') ? null : true;
    });
  });

  it('loses nothing when it is upgraded under load', async () => {
    const ids: string[] = [];
    let upgrading = true;
    const load = (async () => {
      while (upgrading) {
        ids.push(await createJob(WORK.font, { webhook_url: `${receiver.url}/load` }));
        await wait(5000);
      }
    })();
    await install({ extraCa: receiver.authority, logLevel: 'debug' }).finally(() => {
      upgrading = false;
    });
    await load;
    expect(ids.length).toBeGreaterThan(3);
    for (const id of ids) {
      expect(await finished(api, id, JOB_SECONDS)).toMatchObject({ id, status: 'succeeded' });
      expect(await webhooksOf(receiver, id)).toHaveLength(1);
    }
  }, 900_000);

  it('passes helm test', async () => {
    expect(await helm('test', RELEASE, '--timeout', '3m')).toContain('Succeeded');
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
