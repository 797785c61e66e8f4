/**
 * etcd, an API server and, when wanted, a controller manager on loopback, from the programs of
 * `hack/cluster/build-binaries`. No node: tests play the kubelet themselves.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { existsSync, openSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { get } from 'node:https';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { freePorts } from '#api/embedded/free-ports.ts';

export interface ControlPlane {
  /** Kubeconfig of an administrator. */
  readonly kubeconfig: string;
  readonly server: string;
  readonly apiServer: ChildProcess;
  close(): Promise<void>;
}

/** Users, with `<user>-token`, that the API server knows besides the administrator; RBAC decides about their rights. */
export const TEST_USERS = ['controller', 'recorder', 'nobody'] as const;
export type TestUser = (typeof TEST_USERS)[number];

const BINARIES = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'mediajobs', 'bin');
const CONTROLLERS = [
  'job-controller',
  'garbage-collector-controller',
  'namespace-controller',
  'ttl-after-finished-controller',
  'serviceaccount-controller',
];
const START_MS = 120_000;
/** Rates that a large cluster sets. By default the controller manager sends 20 requests a second and syncs 5 Jobs at once. */
const RAISED_RATES = ['--kube-api-qps=300', '--kube-api-burst=600', '--concurrent-job-syncs=20'];

/** Starts the control plane. `rates`: options of the controller manager for its rates; none are the defaults of Kubernetes. */
export async function startControlPlane({ rates = RAISED_RATES } = {}): Promise<ControlPlane> {
  for (const program of ['etcd', 'kube-apiserver', 'kube-controller-manager'])
    if (!existsSync(join(BINARIES, program)))
      throw new Error(`${join(BINARIES, program)} is missing: run hack/cluster/build-binaries ${program}`);
  const directory = await mkdtemp(join(tmpdir(), 'mediajobs-kube-'));
  const [etcdPort, peerPort, apiPort] = (await freePorts(3)) as [number, number, number];
  const server = `https://127.0.0.1:${apiPort}`;
  const kubeconfig = await writeFiles(directory, server);
  const processes = [startEtcd(directory, etcdPort, peerPort)];
  const apiServer = startApiServer(directory, { etcdPort, apiPort });
  processes.push(apiServer);
  const close = async (): Promise<void> => {
    for (const child of processes.toReversed()) await end(child);
    await rm(directory, { recursive: true, force: true });
  };
  try {
    await answers(server, directory, apiServer);
    processes.push(startControllerManager(directory, { kubeconfig, rates }));
  } catch (error) {
    const log = readFileSync(join(directory, 'kube-apiserver.log'), 'utf8').slice(-2000);
    await close();
    throw new Error(`The API server did not start. The end of its log:\n${log}`, { cause: error });
  }
  return { kubeconfig, server, apiServer, close };
}

async function writeFiles(directory: string, server: string): Promise<string> {
  await mkdir(join(directory, 'certs'));
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  await writeFile(join(directory, 'sa.key'), privateKey.export({ type: 'pkcs8', format: 'pem' }));
  const lines = [
    'admin-token,admin,admin,system:masters',
    // The group of every service account.
    ...TEST_USERS.map((user) => `${user}-token,${user},${user},system:serviceaccounts`),
  ];
  await writeFile(join(directory, 'tokens.csv'), `${lines.join('\n')}\n`);
  const path = join(directory, 'kubeconfig');
  const cluster = { server, 'certificate-authority': join(directory, 'certs', 'apiserver.crt') };
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'test', cluster }],
    users: [{ name: 'admin', user: { token: 'admin-token' } }],
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'admin' } }],
    'current-context': 'test',
  };
  await writeFile(path, JSON.stringify(config));
  return path;
}

function startEtcd(directory: string, port: number, peerPort: number): ChildProcess {
  const client = `http://127.0.0.1:${port}`;
  const peer = `http://127.0.0.1:${peerPort}`;
  return start(directory, 'etcd', [
    `--data-dir=${join(directory, 'etcd')}`,
    '--unsafe-no-fsync',
    `--listen-client-urls=${client}`,
    `--advertise-client-urls=${client}`,
    `--listen-peer-urls=${peer}`,
    `--initial-advertise-peer-urls=${peer}`,
    `--initial-cluster=default=${peer}`,
  ]);
}

function startApiServer(directory: string, ports: { etcdPort: number; apiPort: number }): ChildProcess {
  const key = join(directory, 'sa.key');
  return start(directory, 'kube-apiserver', [
    `--etcd-servers=http://127.0.0.1:${ports.etcdPort}`,
    '--bind-address=127.0.0.1',
    `--secure-port=${ports.apiPort}`,
    `--cert-dir=${join(directory, 'certs')}`,
    `--token-auth-file=${join(directory, 'tokens.csv')}`,
    '--authorization-mode=RBAC',
    '--service-cluster-ip-range=10.96.0.0/16',
    '--service-account-issuer=https://kubernetes.default.svc',
    `--service-account-key-file=${key}`,
    `--service-account-signing-key-file=${key}`,
  ]);
}

function startControllerManager(
  directory: string,
  { kubeconfig, rates }: { kubeconfig: string; rates: readonly string[] },
): ChildProcess {
  return start(directory, 'kube-controller-manager', [
    `--kubeconfig=${kubeconfig}`,
    `--controllers=${CONTROLLERS.join(',')}`,
    '--leader-elect=false',
    '--secure-port=0',
    ...rates,
  ]);
}

function start(directory: string, program: string, args: readonly string[]): ChildProcess {
  const log = openSync(join(directory, `${program}.log`), 'w');
  // A run that is killed takes them along.
  const command = ['--pdeathsig', 'KILL', '--', join(BINARIES, program), ...args];
  return spawn('setpriv', command, { stdio: ['ignore', log, log] });
}

async function answers(server: string, directory: string, child: ChildProcess): Promise<void> {
  const deadline = performance.now() + START_MS;
  while (!(await isReady(server, join(directory, 'certs', 'apiserver.crt')))) {
    if (child.exitCode !== null) throw new Error(`It ended with exit code ${child.exitCode}.`);
    if (performance.now() > deadline) throw new Error(`It was not ready after ${START_MS / 1000} s.`);
    await wait(100);
  }
}

function isReady(server: string, caFile: string): Promise<boolean> {
  if (!existsSync(caFile)) return Promise.resolve(false);
  return new Promise((resolve) => {
    const headers = { authorization: 'Bearer admin-token' };
    get(`${server}/readyz`, { ca: readFileSync(caFile), headers, timeout: 5000 }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    }).on('error', () => resolve(false));
  });
}

function end(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve();
    child.once('exit', () => resolve());
    child.kill('SIGKILL');
  });
}
