/** A pod between processes of the service and the API server that breaks all connections again and again. */
import { apply, kubectl, kubectlJson, NAMESPACE } from '#test/e2e/commands.ts';
import { changePods, rolledOut, type Process } from '#test/e2e/deployments.ts';
import { IMAGE_OF_SERVICE } from '#test/e2e/installation.ts';

const NAME = 'cutter';
/** A name of the API server that its certificate has everywhere. */
const API_SERVER = 'kubernetes.default.svc';
const SERVER = `
  const { connect, createServer } = require('node:net');
  const open = new Set();
  setInterval(() => { for (const socket of open) socket.resetAndDestroy(); }, Number(process.env.EVERY_MS));
  createServer((near) => {
    const far = connect(443, '${API_SERVER}');
    for (const [socket, other] of [[near, far], [far, near]]) {
      open.add(socket);
      socket.on('error', () => {}).on('close', () => { open.delete(socket); other.destroy(); }).pipe(other);
    }
  }).listen(6443);
`;

/** Inserts the cutter before the API server. Returns a function that removes it. */
export async function cutConnections(
  processes: readonly Process[],
  { everySeconds }: { everySeconds: number },
): Promise<() => Promise<void>> {
  apply({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: NAME },
    spec: { selector: { app: NAME }, ports: [{ port: 443, targetPort: 6443 }] },
  });
  apply(pod(everySeconds));
  await kubectl('wait', '--for=condition=Ready', `pod/${NAME}`, '--timeout=120s');
  const { spec } = await kubectlJson<{ spec: { clusterIP: string } }>('get', 'service', NAME);
  const restores: (() => Promise<void>)[] = [];
  for (const component of processes) {
    const env = [
      { name: 'KUBERNETES_SERVICE_HOST', value: API_SERVER },
      { name: 'KUBERNETES_SERVICE_PORT', value: '443' },
    ];
    const hostAliases = [{ ip: spec.clusterIP, hostnames: [API_SERVER] }];
    restores.push(await changePods(component, { hostAliases, containers: [{ name: component, env }] }));
    await rolledOut(component);
  }
  return async () => {
    for (const restore of restores) await restore();
    await kubectl('delete', `service/${NAME}`, `pod/${NAME}`, '--wait=true');
  };
}

function pod(everySeconds: number): object {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: NAME, namespace: NAMESPACE, labels: { app: NAME } },
    spec: {
      automountServiceAccountToken: false,
      terminationGracePeriodSeconds: 1,
      securityContext: { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: 'RuntimeDefault' } },
      containers: [
        {
          name: NAME,
          image: IMAGE_OF_SERVICE,
          imagePullPolicy: 'IfNotPresent',
          command: ['node', '-e', SERVER],
          env: [{ name: 'EVERY_MS', value: String(everySeconds * 1000) }],
          readinessProbe: { tcpSocket: { port: 6443 }, periodSeconds: 1 },
          securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
        },
      ],
    },
  };
}
