/**
 * Pods that try to reach addresses and can be reached themselves. With the labels of a component a probe stands behind
 * that component's NetworkPolicy; it is never ready, so that no Service sends it anything.
 */
import { apply, kubectl, kubectlJson } from '#test/e2e/commands.ts';

export interface PodProbe {
  readonly name: string;
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
}

export type Target =
  | { readonly host: string; readonly port: number }
  /** Answered by the cluster's DNS. */
  | { readonly resolve: string };

/** Both answer every connection: what nobody opened, and the metrics of a process. */
export const PROBE_PORTS = { port: 7777, metrics: 9090 } as const;

const MARK = 'mediajobs-e2e-probe';
const SERVER = `
  const { createServer } = require('node:net');
  for (const port of ${JSON.stringify(Object.values(PROBE_PORTS))}) createServer((socket) => socket.end()).listen(port);
`;
/** Long enough for a busy node: a packet that a policy drops gets no response at all. */
const CONNECT_MS = 5000;
/** Tries all targets at once; prints the names of those that answered, as JSON. */
const CLIENT = `
  const { connect } = require('node:net');
  const { Resolver } = require('node:dns').promises;
  const reach = ({ host, port }) => new Promise((resolve, reject) => {
    const socket = connect({ host, port }, resolve).on('error', reject);
    setTimeout(reject, ${CONNECT_MS});
  });
  const ask = (name) => new Resolver({ timeout: ${CONNECT_MS}, tries: 1 }).resolve4(name);
  const targets = Object.entries(JSON.parse(process.argv[1]));
  Promise.all(targets.map(async ([name, target]) => {
    await ('resolve' in target ? ask(target.resolve) : reach(target));
    return name;
  }).map((tried) => tried.catch(() => null))).then((names) => {
    console.log(JSON.stringify(names.filter((name) => name !== null)));
    process.exit();
  });
`;

/** Starts the pods and returns their addresses by name, when all respond. */
export async function startProbes(image: string, probes: readonly PodProbe[]): Promise<ReadonlyMap<string, string>> {
  for (const probe of probes) apply(pod(image, probe), probe.namespace);
  const found = probes.map(async ({ name, namespace }) => {
    const started = '--for=jsonpath={.status.containerStatuses[0].started}=true';
    await kubectl('wait', '--namespace', namespace, started, `pod/${podName(name)}`, '--timeout=180s');
    const { status } = await kubectlJson<{ status: { podIP: string } }>('get', '-n', namespace, 'pod', podName(name));
    return [name, status.podIP] as const;
  });
  return new Map(await Promise.all(found));
}

export async function removeProbes(namespaces: readonly string[]): Promise<void> {
  for (const namespace of namespaces)
    await kubectl('delete', 'pods', '--namespace', namespace, '--selector', MARK, '--wait=true', '--timeout=120s');
}

/** Names of the targets that a probe reaches. */
export async function reachedBy(probe: PodProbe, targets: Readonly<Record<string, Target>>): Promise<string[]> {
  const { name, namespace } = probe;
  const command = ['node', '-e', CLIENT, JSON.stringify(targets)];
  return JSON.parse(await kubectl('exec', '--namespace', namespace, podName(name), '--', ...command)) as string[];
}

/** Sends bytes, prints what comes back until the other side closes. */
const SENDER = `
  const [, host, port, bytes] = process.argv;
  require('node:net').connect({ host, port: Number(port) })
    .on('connect', function () { this.write(bytes); })
    .on('error', () => undefined)
    .pipe(process.stdout);
`;

/** Returns the response to bytes that a probe sends; empty when the connection ends without one. */
export async function responseTo(
  { name, namespace }: Pick<PodProbe, 'name' | 'namespace'>,
  { host, port }: { readonly host: string; readonly port: number },
  bytes: string,
): Promise<string> {
  const command = ['node', '-e', SENDER, host, String(port), bytes];
  return kubectl('exec', '--namespace', namespace, podName(name), '--', ...command);
}

const podName = (probe: string): string => `probe-${probe}`;

function pod(image: string, { name, namespace, labels }: PodProbe): object {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: podName(name), namespace, labels: { ...labels, [MARK]: name } },
    spec: {
      automountServiceAccountToken: false,
      terminationGracePeriodSeconds: 0,
      securityContext: { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: 'RuntimeDefault' } },
      containers: [
        {
          name: 'probe',
          image,
          imagePullPolicy: 'IfNotPresent',
          command: ['node', '-e', SERVER],
          startupProbe: { tcpSocket: { port: PROBE_PORTS.port }, periodSeconds: 1, failureThreshold: 120 },
          readinessProbe: { tcpSocket: { port: 1 }, periodSeconds: 3600 },
          resources: { requests: { cpu: '5m', memory: '32Mi' } },
          securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
        },
      ],
    },
  };
}
