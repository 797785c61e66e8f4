/**
 * Nodes that run nothing: kwok plays their kubelets on a control plane, beside a real scheduler. A pod runs for a
 * second and leaves the outcome of a job that succeeded.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, openSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { KubeClient } from '#crds/kube/kube-client.ts';
import { buildReport } from '#test/support/build-media-job.ts';

export interface KwokNodes {
  readonly processes: Readonly<Record<'kube-scheduler' | 'kwok', ChildProcess>>;
  close(): void;
}

const BINARIES = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'mediajobs', 'bin');
const NODES = 20;
const RUN_MS = 1000;
const CAPACITY = { cpu: '1000', memory: '4Ti', 'ephemeral-storage': '100Ti', pods: '1000' };

/** Starts them. `rates`: options of the scheduler for its rates. */
export async function startKwokNodes(
  client: KubeClient,
  { kubeconfig, folder, rates }: { kubeconfig: string; folder: string; rates: readonly string[] },
): Promise<KwokNodes> {
  for (let node = 1; node <= NODES; node += 1) await createNode(client, `node-${node}`);
  const stages = join(folder, 'stages.yaml');
  await writeFile(stages, STAGES.map((stage) => JSON.stringify(stage)).join('\n---\n'));
  const scheduler = ['--leader-elect=false', '--secure-port=0', ...rates];
  const processes = {
    'kube-scheduler': start('kube-scheduler', folder, [`--kubeconfig=${kubeconfig}`, ...scheduler]),
    kwok: start('kwok', folder, [`--kubeconfig=${kubeconfig}`, `--config=${stages}`, '--manage-all-nodes=true']),
  };
  return { processes, close: () => Object.values(processes).forEach((child) => void child.kill('SIGKILL')) };
}

async function createNode(client: KubeClient, name: string): Promise<void> {
  await client.create('/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', metadata: { name } });
  const conditions = [{ type: 'Ready', status: 'True', reason: 'Kwok', message: '' }];
  await client.mergePatch(`/api/v1/nodes/${name}/status`, {
    status: { capacity: CAPACITY, allocatable: CAPACITY, conditions },
  });
  // The API server has put a taint on the new node, and no controller runs that would remove it.
  await client.mergePatch(`/api/v1/nodes/${name}`, { spec: { taints: null } });
}

function start(program: string, folder: string, args: readonly string[]): ChildProcess {
  if (!existsSync(join(BINARIES, program)))
    throw new Error(`${program} is not in ${BINARIES}; hack/cluster/build-binaries kube-scheduler kwok builds it.`);
  const log = openSync(join(folder, `${program}.log`), 'w');
  const command = ['--pdeathsig', 'KILL', '--', join(BINARIES, program), ...args];
  return spawn('setpriv', command, { stdio: ['ignore', log, log] });
}

const ALIVE = { key: '.metadata.deletionTimestamp', operator: 'DoesNotExist' };
const inPhase = (phase: string): object => ({ key: '.status.phase', operator: 'In', values: [phase] });
const OUTCOME = JSON.stringify({ outcome: 'succeeded', report: buildReport() });

const STAGES = [
  stage('run', [ALIVE, inPhase('Pending')], {
    statusTemplate: statusTemplate('Running', `running: {startedAt: {{ Now | Quote }}}`),
  }),
  stage(
    'complete',
    [ALIVE, inPhase('Running')],
    {
      statusTemplate: statusTemplate(
        'Succeeded',
        `terminated: {exitCode: 0, reason: Completed, startedAt: {{ .status.startTime | Quote }}, finishedAt: {{ Now | Quote }}, message: '${OUTCOME}'}`,
      ),
    },
    RUN_MS,
  ),
  stage('delete', [{ key: '.metadata.deletionTimestamp', operator: 'Exists' }], { delete: true }),
];

function stage(name: string, matchExpressions: readonly object[], next: object, milliseconds = 0): object {
  return {
    apiVersion: 'kwok.x-k8s.io/v1alpha1',
    kind: 'Stage',
    metadata: { name: `pod-${name}` },
    spec: {
      resourceRef: { apiGroup: 'v1', kind: 'Pod' },
      selector: { matchExpressions },
      ...(milliseconds === 0 ? {} : { delay: { durationMilliseconds: milliseconds } }),
      next,
    },
  };
}

function statusTemplate(phase: string, state: string): string {
  return [
    `phase: ${phase}`,
    ...(phase === 'Running' ? ['startTime: {{ Now | Quote }}'] : []),
    'containerStatuses:',
    `- {name: worker, image: worker, imageID: worker, ready: false, restartCount: 0, state: {${state}}}`,
  ].join('\n');
}
