/** Nodes of kind as containers of the Docker that `docker` reaches: they are lost and come back, and see an outside. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { kubectl, kubectlJson, until } from '#test/e2e/commands.ts';
import type { Target } from '#test/e2e/probe-pods.ts';

const run = promisify(execFile);

/** Returns the names of the cluster's nodes; none when they are not containers that this process may stop. */
export async function kindNodes(): Promise<string[]> {
  const { items } = await kubectlJson<{ items: Node[] }>('get', 'nodes');
  const isKind = items.every(({ spec }) => spec.providerID?.startsWith('kind://docker/') === true);
  const names = items.map(({ metadata }) => metadata.name);
  return isKind && (await docker('inspect', ...names).catch(() => null)) !== null ? names : [];
}

interface Node {
  readonly metadata: { readonly name: string };
  readonly spec: { readonly providerID?: string };
}

/** Stops a node without any warning to what runs on it, as a loss of power does. */
export async function loseNode(name: string): Promise<void> {
  await docker('kill', name);
}

/** Starts a lost node and waits until it takes pods. */
export async function restoreNode(name: string): Promise<void> {
  await docker('start', name);
  await until(`${name} to be back`, 180, async () => {
    const ready = 'jsonpath={.status.conditions[?(@.type=="Ready")].status}';
    return (await kubectl('get', 'node', name, '--output', ready).catch(() => '')) === 'True' ? true : null;
  });
}

/** An address of the internet, of those for documentation, and that under which clouds tell a machine its secrets. */
export const OUTSIDE: Readonly<Record<string, Target>> = {
  'the internet': { host: '203.0.113.1', port: 443 },
  "the cloud's metadata": { host: '169.254.169.254', port: 80 },
};
const NETWORKS = [
  { name: 'mediajobs-internet', subnet: '203.0.113.0/24', gateway: '203.0.113.254', address: '203.0.113.1' },
  { name: 'mediajobs-metadata', subnet: '169.254.169.0/24', gateway: '169.254.169.1', address: '169.254.169.254' },
] as const;
const CONTAINER = 'mediajobs-outside';
/** Perl is in each image of Debian, so in each node image. */
const SERVER = `use IO::Socket::INET;
my $server = IO::Socket::INET->new(LocalPort => (fork ? 80 : 443), Listen => 20, ReuseAddr => 1) or die;
while (my $client = $server->accept) { close $client }`;

/**
 * Starts a container that answers at the addresses of `OUTSIDE`, which lead to nobody else's machines. Returns its
 * removal.
 */
export async function startOutside(nodes: readonly string[]): Promise<() => Promise<void>> {
  await removeOutside(nodes);
  const [first] = nodes;
  const { stdout: image } = await docker('inspect', '--format', '{{.Image}}', first ?? '');
  for (const { name, subnet, gateway } of NETWORKS)
    await docker('network', 'create', '--internal', '--subnet', subnet, '--gateway', gateway, name);
  const command = ['--entrypoint', 'perl', image.trim(), '-e', SERVER];
  await docker('run', '--detach', '--name', CONTAINER, '--network', 'none', ...command);
  await docker('network', 'disconnect', 'none', CONTAINER);
  for (const { name, address } of NETWORKS) {
    await docker('network', 'connect', '--ip', address, name, CONTAINER);
    for (const node of nodes) await docker('network', 'connect', name, node);
  }
  return () => removeOutside(nodes);
}

/** Also what an interrupted test has left. */
async function removeOutside(nodes: readonly string[]): Promise<void> {
  await docker('rm', '--force', '--volumes', CONTAINER).catch(() => null);
  for (const { name } of NETWORKS) {
    for (const node of nodes) await docker('network', 'disconnect', '--force', name, node).catch(() => null);
    await docker('network', 'rm', name).catch(() => null);
  }
}

function docker(...args: string[]): Promise<{ stdout: string }> {
  return run('docker', args);
}
