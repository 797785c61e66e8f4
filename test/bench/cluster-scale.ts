/**
 * Jobs through recorder and controller on a real control plane with nodes that run nothing: how many they carry,
 * and what they take for it. JOBS and RATE in the environment change the number and how many come a second. With STOCK=1
 * controller manager and scheduler have the rates that Kubernetes sets by default, otherwise raised ones.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { startPostgres } from '#api/embedded/postgres.ts';
import { CHANGES_CHANNEL } from '#api/store/changes-channel.ts';
import { makeDatabase } from '#api/store/database.ts';
import { notify } from '#api/store/listen.ts';
import { migrate } from '#api/store/migrate.ts';
import { podsPath, RUN_SELECTOR } from '#controller/run-objects.ts';
import { heartbeatToken } from '#crds/contract/heartbeat-token.ts';
import type { KubeObject } from '#crds/kube/kube-object.ts';
import { startReflector } from '#crds/kube/reflector.ts';
import { systemTime } from '#crds/kube/time.ts';
import { buildMediaJobCrd } from '#crds/contract/media-job-crd.ts';
import { jobIdOfName, LABELS } from '#crds/contract/names.ts';
import { systemClock } from '#crds/process/clock.ts';
import { makeLog } from '#crds/process/log.ts';
import { startKwokNodes } from '#test/bench/kwok-nodes.ts';
import { print } from '#test/bench/print-figures.ts';
import { costOf } from '#test/bench/process-cost.ts';
import { HEARTBEAT_KEY, startClusterProcess, type ClusterProcess } from '#test/support/cluster-process.ts';
import { startControlPlane } from '#test/support/control-plane.ts';
import { buildAccount, buildJob } from '#test/support/job-builder.ts';
import { connectAs, makeNamespace, writeKubeconfig } from '#test/support/kube-connection.ts';
import { recorderEnvironment } from '#test/support/recorder-environment.ts';
import { silentReflectorMetrics } from '#test/support/silent-reflector-metrics.ts';

const JOBS = Number(process.env['JOBS'] ?? 2000);
const RATE = Number(process.env['RATE'] ?? 50);
const ACCOUNTS = 10;
/** Maximum wait for the last job, in milliseconds. Afterwards the figures are those of the ended jobs. */
const LONGEST_MS = 330_000;

/** Heap limit that Node chooses in a pod with the chart's limit of 512 MiB. */
const NODE_OPTIONS = '--max-old-space-size=256';

const log = makeLog('bench', 'silent');
const folder = await mkdtemp(join(tmpdir(), 'mediajobs-bench-'));
const postgres = await startPostgres({ dataFolder: folder, durable: false, onLine: () => undefined });
const database = makeDatabase({ url: postgres.url, log, maxConnections: 4 });
await migrate({ database, clock: systemClock });
const isStock = process.env['STOCK'] === '1';
const plane = await startControlPlane(isStock ? { rates: [] } : {});
const { client, close } = connectAs(plane.kubeconfig);
await client.create('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', buildMediaJobCrd());
const namespace = await makeNamespace(client);
const nodes = await startKwokNodes(client, {
  kubeconfig: plane.kubeconfig,
  folder,
  rates: isStock ? [] : ['--kube-api-qps=300', '--kube-api-burst=600'],
});
const kubeconfig = await writeKubeconfig(plane.kubeconfig, { user: 'admin', namespace });
const recorder = await startClusterProcess('api/recorder.ts', {
  kubeconfig,
  environment: { ...recorderEnvironment({ databaseUrl: postgres.url, folder }), NODE_OPTIONS },
});
const controller = await startClusterProcess('controller/main.ts', { kubeconfig, environment: { NODE_OPTIONS } });
const ended = new AbortController();
try {
  await Promise.all([recorder, controller].map(isLeading));
  sendHeartbeats();
  await measure();
} finally {
  ended.abort();
  await Promise.all([recorder, controller].map((each) => each.end('SIGKILL')));
  nodes.close();
  await close();
  await plane.close();
  await database.close();
  await postgres.stop();
  await rm(folder, { recursive: true, force: true });
}

async function measure(): Promise<void> {
  const before = await figures();
  const startedAt = performance.now();
  const arriving = arrive();
  let [done, most] = [0, 0];
  while (done < JOBS && performance.now() - startedAt < LONGEST_MS) {
    await delay(1000);
    const { rows } = await database.query<{ done: number; open: number }>(
      "select count(*) filter (where status = 'succeeded')::int as done, count(*) filter (where status <> 'succeeded')::int as open from jobs",
      [],
    );
    done = rows[0]?.done ?? 0;
    most = Math.max(most, rows[0]?.open ?? 0);
  }
  await arriving;
  const seconds = (performance.now() - startedAt) / 1000;
  const after = await figures();
  print(
    `${JOBS} jobs at ${RATE} a second, ${isStock ? 'default' : 'raised'} rates`,
    'ended',
    'seconds',
    'a second',
    'most open',
  );
  print('', String(done), seconds.toFixed(0), (done / seconds).toFixed(1), String(most));
  print('', 'cpu s', 'cpu share', 'ms/job', 'rest MiB', 'peak MiB', 'heap MiB');
  for (const name of ['recorder', 'controller'] as const) {
    const cpu = after[name].cost.cpu - before[name].cost.cpu;
    const share = `${((100 * cpu) / seconds).toFixed(0)} %`;
    const { peak } = after[name].cost;
    const { now: rest } = before[name].cost;
    print(
      `  ${name}`,
      cpu.toFixed(1),
      share,
      ((1000 * cpu) / done).toFixed(1),
      rest.toFixed(0),
      peak.toFixed(0),
      after[name].heap.toFixed(0),
    );
  }
  print('requests per job', 'POST', 'PATCH', 'PUT', 'DELETE', 'GET');
  for (const name of ['recorder', 'controller'] as const) {
    const perJob = (method: string): string =>
      (((after[name].requests.get(method) ?? 0) - (before[name].requests.get(method) ?? 0)) / done).toFixed(2);
    print(`  ${name}`, ...['POST', 'PATCH', 'PUT', 'DELETE', 'GET'].map(perJob));
  }
  const events = await client.list(`/api/v1/namespaces/${namespace}/events`, {
    fieldSelector: 'involvedObject.kind=MediaJob',
  });
  print('  events among them, per job', (events.items.length / done).toFixed(2));
}

async function arrive(): Promise<void> {
  const accounts = [];
  while (accounts.length < ACCOUNTS) accounts.push((await buildAccount(database)).id);
  const startedAt = performance.now();
  for (let count = 0; count < JOBS; count += 1) {
    const wait = startedAt + (count * 1000) / RATE - performance.now();
    if (wait > 0) await delay(wait);
    const { id } = await buildJob(database, accounts[count % ACCOUNTS] ?? '', { createdAt: new Date() });
    await notify(database, CHANGES_CHANNEL, id);
  }
}

/** Replaces the workers: each running pod reports once. */
function sendHeartbeats(): void {
  const heard = new Set<string>();
  const pods = startReflector(
    { client, time: systemTime, log, metrics: silentReflectorMetrics },
    { path: podsPath(namespace), labelSelector: RUN_SELECTOR, firstList: 'consistent' },
    ended.signal,
  );
  pods.watch(({ object }) => {
    const { phase } = (object['status'] ?? {}) as { phase?: string };
    if (phase !== 'Running' || heard.has(object.metadata.uid)) return;
    heard.add(object.metadata.uid);
    void beat(object).catch(() => undefined);
  }, ended.signal);
}

async function beat({ metadata: { labels = {} } }: KubeObject): Promise<void> {
  const jobId = jobIdOfName(labels[LABELS.job] ?? '');
  const attempt = Number(labels[LABELS.attempt]);
  const token = heartbeatToken(Buffer.from(HEARTBEAT_KEY, 'base64'), jobId, attempt);
  const response = await fetch(controller.heartbeatUrl, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
    body: JSON.stringify({ jobId, attempt, percent: 1 }),
  });
  await response.body?.cancel();
}

async function isLeading({ opsUrl }: ClusterProcess): Promise<void> {
  while (!/^mediajobs_leader 1$/m.test(await metricsOf(opsUrl))) await delay(100);
}

async function figures() {
  const of = async ({ child, opsUrl }: ClusterProcess) => {
    const requests = new Map<string, number>();
    const line = /^mediajobs_kube_requests_total\{method="(\w+)",status="\d+"\} (\d+)$/gm;
    const metrics = await metricsOf(opsUrl);
    for (const [, method = '', count] of metrics.matchAll(line))
      requests.set(method, (requests.get(method) ?? 0) + Number(count));
    const heap = Number(/^nodejs_heap_size_used_bytes (\d+)/m.exec(metrics)?.[1] ?? 0) / 1024 ** 2;
    return { cost: costOf(child.pid ?? 0), heap, requests };
  };
  return { recorder: await of(recorder), controller: await of(controller) };
}

async function metricsOf(opsUrl: string): Promise<string> {
  return fetch(`${opsUrl}/metrics`).then(
    (response) => response.text(),
    () => '',
  );
}
