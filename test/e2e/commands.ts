/** kubectl and helm as processes, against the cluster that KUBECONFIG names. */
import { execFile, spawnSync } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);
const LARGEST_OUTPUT = 64 * 1024 ** 2;

export const NAMESPACE = process.env['E2E_NAMESPACE'] ?? 'mediajobs-e2e';

/** Returns the standard output of `kubectl` in the tests' namespace. @throws with its standard error. */
export async function kubectl(...args: string[]): Promise<string> {
  const { stdout } = await run('kubectl', ['--namespace', NAMESPACE, ...args], { maxBuffer: LARGEST_OUTPUT });
  return stdout;
}

/** Returns a list or an object, parsed. */
export async function kubectlJson<Shape>(...args: string[]): Promise<Shape> {
  return JSON.parse(await kubectl(...args, '--output', 'json')) as Shape;
}

/** Applies a manifest, in the tests' namespace unless another is given. @throws with what the API server says. */
export function apply(manifest: object, namespace = NAMESPACE): void {
  feed(manifest, '--namespace', namespace, 'apply', '-f', '-');
}

/** Asks the API server to evict a pod, as draining a node does. */
export function evict(pod: string): void {
  const path = `/api/v1/namespaces/${NAMESPACE}/pods/${pod}/eviction`;
  const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: pod, namespace: NAMESPACE } };
  feed(eviction, 'create', '--raw', path, '-f', '-');
}

function feed(object: object, ...args: string[]): void {
  const { status, stderr } = spawnSync('kubectl', args, {
    input: JSON.stringify(object),
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(stderr);
}

export async function helm(...args: string[]): Promise<string> {
  const { stdout } = await run('helm', ['--namespace', NAMESPACE, ...args], { maxBuffer: LARGEST_OUTPUT });
  return stdout;
}

/** Polls every 500 ms until the result is not null. @throws Error after `seconds`, with `what`. */
export async function until<Found>(what: string, seconds: number, ask: () => Promise<Found | null>): Promise<Found> {
  const end = performance.now() + seconds * 1000;
  for (;;) {
    const found = await ask();
    if (found !== null) return found;
    if (performance.now() > end) throw new Error(`waited ${seconds} s in vain for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}
