/**
 * What the service adds to a bare Kubernetes Job, on the cluster that KUBECONFIG names, without and with standbys, and with
 * standbys that take several jobs of one account: the time of one small job, how many a second pass when 40 come at once
 * and which CPU time each takes, how soon an end in the cluster is notified. `hack/bench kubernetes` builds the images, starts kind and runs this; the chart
 * is installed into the tests' namespace, which goes afterwards.
 */
import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { startReflector } from '#crds/kube/reflector.ts';
import { systemTime } from '#crds/kube/time.ts';
import { mediaJobName } from '#crds/contract/names.ts';
import { makeLog } from '#crds/process/log.ts';
import { ALL, startCpuByProcess, type CpuSeconds } from '#test/bench/cpu-by-process.ts';
import { median, print } from '#test/bench/print-figures.ts';
import { NAMESPACE, until } from '#test/e2e/commands.ts';
import { controllerMetrics } from '#test/e2e/deployments.ts';
import { connectToApi, IMAGE_OF_SERVICE, install } from '#test/e2e/installation.ts';
import { installWithReceiver, removeNamespace } from '#test/e2e/installed-service.ts';
import { receiverPod } from '#test/e2e/receiver-pod.ts';
import { connectAs } from '#test/support/kube-connection.ts';
import { upload } from '#test/support/run-through.ts';
import { silentReflectorMetrics } from '#test/support/silent-reflector-metrics.ts';

const ROUNDS = 8;
const BURST = 40;
const BURST_ROUNDS = 2;
const LONGEST_SECONDS = 300;
/** CPU time of a process for each job below which it is not printed, in seconds. */
const SMALLEST_SHARE = 0.005;
/**
 * Interval in which a caller asks for a job that has ended in the cluster, in milliseconds: alone, and of many, whose
 * requests take processor time.
 */
const POLL_MS = { alone: 20, many: 250 };
/** Requests of both kinds of pod. They are small, so that they do not limit the number of concurrent pods. */
const REQUESTS = { cpu: '20m', memory: '32Mi' };
const STANDBYS = 2;
const JOBS = `/apis/batch/v1/namespaces/${NAMESPACE}/jobs`;
const FILE = readFileSync('api/data/samples/people.csv');

interface Cost {
  readonly seconds: number;
  readonly cpuByProcess: CpuSeconds;
}

const WORKER = { kinds: { table: { resources: { requests: REQUESTS } } } };

const { key, receiver } = await installWithReceiver({ worker: WORKER });
const api = await connectToApi(key);
const kube = connectAs(process.env['KUBECONFIG'] ?? '');
const stop = new AbortController();
const bareEnds = watchEnds(JOBS, ({ completionTime }) => completionTime !== undefined);
const bareFailures = watchEnds(JOBS, ({ failed }) => failed !== undefined);
const ownEnds = watchEnds(`/apis/mediajobs.dev/v1/namespaces/${NAMESPACE}/mediajobs`, ({ phase }) =>
  ['Succeeded', 'Failed'].includes(String(phase)),
);
const ids: string[] = [];
try {
  await measure('ours', () => Promise.resolve());
  await untilNotified();
  const trustedCa = { pem: receiver.authority };
  await install({ trustedCa, worker: { ...WORKER, standby: { table: STANDBYS } } });
  await measure(`${STANDBYS} standbys`, untilStandbysWait);
  await install({ trustedCa, worker: { ...WORKER, standby: { table: STANDBYS }, jobsPerPod: BURST } });
  await measure('one tenant', untilStandbysWait);
} finally {
  stop.abort();
  await kube.close();
  await api.close();
  await removeNamespace();
}

/** Measures bare Jobs and jobs of the service in turns. `ready` resolves when the service is idle again. */
async function measure(name: string, ready: () => Promise<void>): Promise<void> {
  await oneByOne(name, ready);
  await allAtOnce(name, ready);
}

async function oneByOne(name: string, ready: () => Promise<void>): Promise<void> {
  const [bare, own]: [number[], number[]] = [[], []];
  for (let round = 0; round < ROUNDS; round += 1) {
    bare.push(await secondsOf(runBare));
    const uploaded = await uploadFile();
    await ready();
    own.push(await secondsOf(prepareOwn(uploaded, POLL_MS.alone)));
  }
  print('one small job, seconds', 'bare Job', name, 'ratio');
  const figures = [median(bare), median(own), median(own) / median(bare)];
  print('  median', ...figures.map((figure) => figure.toFixed(2)));
  print(
    '  lowest and highest',
    ...[bare, own].map((all) => `${Math.min(...all).toFixed(2)}-${Math.max(...all).toFixed(2)}`),
  );
}

async function allAtOnce(name: string, ready: () => Promise<void>): Promise<void> {
  print(`${BURST} jobs at once`, 'bare Jobs', name, 'ratio');
  for (let round = 0; round < BURST_ROUNDS; round += 1) {
    const bare = await costOf(() => Promise.all(Array.from({ length: BURST }, () => runBare())));
    const uploads: string[] = [];
    for (let at = 0; at < BURST; at += 1) uploads.push(await uploadFile());
    await ready();
    const own = await costOf(() => Promise.all(uploads.map((id) => prepareOwn(id, POLL_MS.many)())));
    const figures = [BURST / bare.seconds, BURST / own.seconds, bare.seconds / own.seconds];
    print('  a second', ...figures.map((figure) => figure.toFixed(2)));
    print('  CPU seconds each');
    printByProcess(bare.cpuByProcess, own.cpuByProcess);
  }
}

function printByProcess(bare: CpuSeconds, own: CpuSeconds): void {
  for (const name of new Set([...own.keys(), ...bare.keys()])) {
    const [ofBare, ofOwn] = [bare, own].map((seconds) => (seconds.get(name) ?? 0) / BURST) as [number, number];
    const ratio = name === ALL ? [(ofBare / ofOwn).toFixed(2)] : [];
    if (Math.max(ofBare, ofOwn) >= SMALLEST_SHARE)
      print(`    ${name}`, ...[ofBare, ofOwn].map((figure) => figure.toFixed(3)), ...ratio);
  }
}

/** Resolves when as many standbys wait as the values ask for. */
async function untilStandbysWait(): Promise<void> {
  const line = `mediajobs_controller_standbys{kind="table",state="ready"} ${STANDBYS}`;
  await until(`${STANDBYS} standbys`, LONGEST_SECONDS, async () =>
    (await controllerMetrics()).includes(line) ? true : null,
  );
}

/** Time from the end in the API server to the first attempt of the webhook. */
async function untilNotified(): Promise<void> {
  const notified = await until('all webhooks', LONGEST_SECONDS, async () => {
    const received = await receiverPod(receiver).received();
    const about = ids.map((id) => received.find(({ text }) => text.includes(id))?.at);
    return about.every((at) => at !== undefined) ? about : null;
  });
  const after = ids.map((id, at) => (notified[at] ?? 0) - (ownEnds.get(mediaJobName(id)) ?? 0));
  print('end to first webhook attempt, milliseconds', 'one by one', `of ${BURST} at once`);
  print(
    '  median (goal: 300)',
    ...[after.slice(0, ROUNDS), after.slice(ROUNDS)].map((some) => median(some).toFixed(0)),
  );
}

async function secondsOf(work: () => Promise<unknown>): Promise<number> {
  return (await costOf(work)).seconds;
}

/** Returns duration and CPU time of the work, that of everything that runs in the nodes meanwhile. */
async function costOf(work: () => Promise<unknown>): Promise<Cost> {
  const cpuByProcess = startCpuByProcess();
  const startedAt = performance.now();
  await work();
  const seconds = (performance.now() - startedAt) / 1000;
  return { seconds, cpuByProcess: cpuByProcess() };
}

/** Runs a Job whose container ends at once. A busy node sometimes fails to start one: then another is run. */
async function runBare(): Promise<void> {
  while (!(await startBare()));
}

async function startBare(): Promise<boolean> {
  const { metadata } = await kube.client.create(JOBS, {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { generateName: 'bare-' },
    spec: {
      backoffLimit: 0,
      template: {
        spec: {
          restartPolicy: 'Never',
          automountServiceAccountToken: false,
          enableServiceLinks: false,
          securityContext: { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: 'RuntimeDefault' } },
          containers: [
            {
              name: 'true',
              image: IMAGE_OF_SERVICE,
              imagePullPolicy: 'IfNotPresent',
              command: ['true'],
              resources: { requests: REQUESTS },
              securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
            },
          ],
        },
      },
    },
  });
  await ended(metadata.name, bareEnds, bareFailures);
  return bareEnds.has(metadata.name);
}

function uploadFile(): Promise<string> {
  return upload(api, FILE, 'people.csv');
}

/** A job from its request to the success that the API shows. */
function prepareOwn(uploadId: string, pollMs: number): () => Promise<void> {
  return async () => {
    const options = { convert: { to: 'json' } };
    const json = { operation: 'convert', input: { upload: uploadId }, options, webhook_url: `${receiver.url}/webhook` };
    const created = await api('POST', '/v1/jobs', { json });
    if (created.status !== 202) throw new Error(`POST /v1/jobs was answered ${created.status}`);
    const id = String(created.json()['id']);
    ids.push(id);
    await ended(mediaJobName(id), ownEnds);
    for (;;) {
      const { status } = (await api('GET', `/v1/jobs/${id}`)).json();
      if (status === 'succeeded') return;
      if (status !== 'queued' && status !== 'processing') throw new Error(`the job ended with ${String(status)}`);
      await wait(pollMs);
    }
  };
}

/** Returns the time at which each object was first seen as ended, in milliseconds since 1970, by name. */
function watchEnds(path: string, hasEnded: (status: Record<string, unknown>) => boolean): ReadonlyMap<string, number> {
  const ends = new Map<string, number>();
  const deps = {
    client: kube.client,
    time: systemTime,
    log: makeLog('bench', 'error'),
    metrics: silentReflectorMetrics,
  };
  const reflector = startReflector(deps, { path, firstList: 'consistent' }, stop.signal);
  reflector.watch(({ object }) => {
    if (hasEnded((object['status'] ?? {}) as Record<string, unknown>) && !ends.has(object.metadata.name))
      ends.set(object.metadata.name, Date.now());
  }, stop.signal);
  return ends;
}

async function ended(name: string, ...ends: readonly ReadonlyMap<string, number>[]): Promise<void> {
  const last = performance.now() + LONGEST_SECONDS * 1000;
  while (!ends.some((some) => some.has(name))) {
    if (performance.now() > last) throw new Error(`${name} has not ended after ${LONGEST_SECONDS} s`);
    await wait(10);
  }
}
