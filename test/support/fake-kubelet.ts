/**
 * A node that is this machine: takes every pod of a namespace, runs the scripted worker where the pod would
 * run its image, and reports as a kubelet does. What it cannot do: containers.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { KubeClient } from '#crds/kube/kube-client.ts';
import { isRefusal } from '#crds/kube/kube-error.ts';
import type { KubeObject } from '#crds/kube/kube-object.ts';
import { startReflector } from '#crds/kube/reflector.ts';
import { systemTime } from '#crds/kube/time.ts';
import {
  BETWEEN_FILES,
  RUN_SPEC,
  RUN_SPEC_FILE,
  STANDBY_TOKEN_FILE,
  STANDBY_URL,
  TERMINATION_BYTES,
  TERMINATION_FILE,
} from '#crds/contract/run-files.ts';
import { makeLog } from '#crds/process/log.ts';
import { silentReflectorMetrics } from '#test/support/silent-reflector-metrics.ts';

export interface FakeKubelet {
  /** Pods whose worker it has started, in order. */
  readonly started: string[];
  /** Ends every worker and takes no further pod. */
  close(): Promise<void>;
}

const NODE = 'node-1';
const WORKER = fileURLToPath(import.meta.resolve('#test/support/scripted-worker.ts'));

export async function startFakeKubelet(client: KubeClient, namespace: string): Promise<FakeKubelet> {
  const directory = await mkdtemp(join(tmpdir(), 'fake-kubelet-'));
  const ended = new AbortController();
  const workers = new Map<string, ChildProcess | null>();
  const tasks = new Set<Promise<void>>();
  const started: string[] = [];
  const pods = `/api/v1/namespaces/${namespace}/pods`;

  const run = async (pod: KubeObject): Promise<void> => {
    const { name } = pod.metadata;
    const binding = { apiVersion: 'v1', kind: 'Binding', metadata: { name }, target: { kind: 'Node', name: NODE } };
    await client.create(`${pods}/${name}/binding`, binding);
    const folder = join(directory, pod.metadata.uid);
    const files = await mount(client, namespace, { pod, folder });
    const startedAt = seconds(new Date());
    if (ended.signal.aborted) return;
    const child = spawnWorker(pod, folder, files);
    const exited = exitOf(child);
    workers.set(pod.metadata.uid, child);
    started.push(name);
    await report(client, `${pods}/${name}/status`, 'Running', { running: { startedAt } });
    const exitCode = await exited;
    const message = (await readFile(join(folder, 'termination'), 'utf8').catch(() => '')).slice(0, TERMINATION_BYTES);
    const terminated = {
      exitCode,
      startedAt,
      finishedAt: seconds(new Date()),
      reason: exitCode === 0 ? 'Completed' : 'Error',
      message,
    };
    await report(client, `${pods}/${name}/status`, exitCode === 0 ? 'Succeeded' : 'Failed', { terminated });
    await rm(folder, { recursive: true, force: true });
  };
  const end = async (pod: KubeObject): Promise<void> => {
    kill(workers.get(pod.metadata.uid));
    await client.delete(`${pods}/${pod.metadata.name}`, { uid: pod.metadata.uid, gracePeriodSeconds: 0 });
  };
  /** A pod that was deleted meanwhile needs nothing more. */
  const follow = (work: Promise<void>): void => {
    const task = work.catch((error: unknown) => {
      if (!ended.signal.aborted && !isRefusal(error, 404, 409)) throw error;
    });
    tasks.add(task);
    void task.finally(() => tasks.delete(task));
  };

  const reflector = startReflector(
    { client, time: systemTime, log: makeLog('test', 'silent'), metrics: silentReflectorMetrics },
    { path: pods, firstList: 'consistent' },
    ended.signal,
  );
  reflector.watch(({ type, object }) => {
    if (type === 'deleted') return kill(workers.get(object.metadata.uid));
    if (object.metadata.deletionTimestamp !== undefined) return follow(end(object));
    if (workers.has(object.metadata.uid)) return;
    workers.set(object.metadata.uid, null);
    follow(run(object));
  }, ended.signal);

  return {
    started,
    async close() {
      ended.abort();
      for (const child of workers.values()) kill(child);
      await Promise.all(tasks);
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** Mounts what the pod mounts for its worker. Returns the files: parts of the run's spec, or the token of a standby. */
async function mount(
  client: KubeClient,
  namespace: string,
  { pod, folder }: { pod: KubeObject; folder: string },
): Promise<readonly string[]> {
  const { volumes } = pod['spec'] as { volumes: Volume[] };
  await mkdir(folder, { recursive: true });
  const source = volumes.flatMap(({ projected }) => projected?.sources ?? [])[0];
  if (source !== undefined) {
    const file = join(folder, source.serviceAccountToken.path);
    await writeFile(file, await requestToken(client, namespace, { pod, ...source.serviceAccountToken }));
    return [file];
  }
  const volume = volumes.find(({ secret }) => secret !== undefined)?.secret ?? { secretName: '', items: [] };
  const secret = await client.get(`/api/v1/namespaces/${namespace}/secrets/${volume.secretName}`);
  const data = secret['data'] as Readonly<Record<string, string>>;
  const files = volume.items.map(({ key, path }) => ({ key, file: join(folder, path) }));
  for (const { key, file } of files) await writeFile(file, Buffer.from(data[key] ?? '', 'base64'));
  return files.map(({ file }) => file);
}

/** Requests a token for the pod, as a kubelet does for a projected volume. */
export async function requestToken(
  client: KubeClient,
  namespace: string,
  { pod, audience, expirationSeconds }: { pod: KubeObject; audience: string; expirationSeconds: number },
): Promise<string> {
  const { name, uid } = pod.metadata;
  const boundObjectRef = { kind: 'Pod', apiVersion: 'v1', name, uid };
  const account = `/api/v1/namespaces/${namespace}/serviceaccounts/default`;
  const { status } = await client.create(`${account}/token`, {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec: { audiences: [audience], expirationSeconds, boundObjectRef },
  });
  return (status as { token: string }).token;
}

interface Volume {
  readonly secret?: {
    readonly secretName: string;
    readonly items: readonly { readonly key: string; readonly path: string }[];
  };
  readonly projected?: {
    readonly sources: readonly {
      readonly serviceAccountToken: { path: string; audience: string; expirationSeconds: number };
    }[];
  };
}

function spawnWorker(pod: KubeObject, folder: string, files: readonly string[]): ChildProcess {
  const { containers } = pod['spec'] as { containers: { env: { name: string; value: string }[] }[] };
  const given = (name: string): string | undefined => containers[0]?.env.find((one) => one.name === name)?.value;
  const run =
    given(STANDBY_URL) === undefined
      ? { [RUN_SPEC]: given(RUN_SPEC), [RUN_SPEC_FILE]: files.join(BETWEEN_FILES) }
      : { [STANDBY_URL]: given(STANDBY_URL), [STANDBY_TOKEN_FILE]: files[0] };
  return spawn(process.execPath, [WORKER], {
    cwd: folder,
    env: {
      PATH: process.env['PATH'],
      TMPDIR: folder,
      ...run,
      [TERMINATION_FILE]: join(folder, 'termination'),
    },
    stdio: ['pipe', 'ignore', 'ignore'],
  });
}

/** As a container's: 128 and the signal's number. */
function exitOf(child: ChildProcess): Promise<number> {
  return new Promise((resolve) =>
    child.once('exit', (code, signal) => resolve(code ?? 128 + (signal === null ? 0 : constants.signals[signal]))),
  );
}

async function report(client: KubeClient, path: string, phase: string, state: object): Promise<void> {
  const container = { name: 'worker', image: 'worker', imageID: 'worker', ready: false, restartCount: 0, state };
  await client.mergePatch(path, { status: { phase, containerStatuses: [container] } });
}

function kill(child: ChildProcess | null | undefined): void {
  if (child === null || child === undefined) return;
  child.kill('SIGTERM');
}

function seconds(date: Date): string {
  return date.toISOString().replace(/\.\d+Z$/, 'Z');
}
