/**
 * The chart as GitOps tools use it: those that render it and apply the result, such as Argo CD, without Helm in the
 * cluster, and those that install it with Helm and compare the objects with the release, such as Flux.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { kubectl, until } from '#test/e2e/commands.ts';
import { CHART, IMAGE } from '#test/e2e/installation.ts';

const IDLE = ['api', 'recorder', 'courier', 'controller', 'engine'].flatMap((name) => ['--set', `${name}.replicas=0`]);
const VALUES = [
  '--set',
  `evaluation.enabled=true,crds.enabled=false,image.tag=${IMAGE.tag},image.registry=${IMAGE.registry}`,
  ...IDLE,
];

function render(namespace: string): string {
  const args = ['template', 'media', CHART, '--namespace', namespace, '--kube-version', '1.34.0', '--skip-tests'];
  return execFileSync('helm', [...args, ...VALUES], { encoding: 'utf8' });
}

function feed(input: string, ...args: string[]): { status: number | null; stdout: string; stderr: string } {
  return spawnSync('kubectl', [...args, '-f', '-'], { input, encoding: 'utf8' });
}

const NO_DIFFERENCE = { status: 0, stdout: '', stderr: '' };

const secretsIn = (namespace: string): Promise<string> => {
  const names = ['media-mediajobs-keys', 'media-mediajobs-tls', 'media-mediajobs-evaluation'];
  return kubectl('--namespace', namespace, 'get', 'secrets', ...names, '--output', 'jsonpath={.items[*].data}');
};

describe.each([
  { by: 'the client', namespace: 'mediajobs-gitops', how: [] },
  { by: 'the server', namespace: 'mediajobs-gitops-server', how: ['--server-side'] },
])('a render that is applied by $by', ({ namespace, how }) => {
  beforeAll(() => kubectl('create', 'namespace', namespace));
  afterAll(() => kubectl('delete', 'namespace', namespace, '--wait=false'));

  it('creates the Secrets once, and a second render has no difference', async () => {
    const to = ['--namespace', namespace];
    expect(feed(render(namespace), ...to, 'apply', ...how)).toMatchObject({ status: 0, stderr: '' });
    const made = await until('the Secrets', 120, () => secretsIn(namespace).catch(() => null));
    expect(feed(render(namespace), ...to, 'diff', ...how)).toMatchObject(NO_DIFFERENCE);
    expect(feed(render(namespace), ...to, 'apply', ...how)).toMatchObject({ status: 0 });
    expect(await secretsIn(namespace)).toBe(made);
  });
});

interface ReleasedObject {
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly generation?: number;
    readonly labels?: object;
    readonly annotations?: object;
  };
  readonly spec?: object;
  readonly data?: object;
}

describe('a release', () => {
  const NAMESPACE = 'mediajobs-gitops-helm';
  const helm = (...args: string[]): string =>
    execFileSync('helm', ['--namespace', NAMESPACE, ...args], { encoding: 'utf8' });
  const upgrade = (): string => helm('upgrade', '--install', 'media', CHART, '--timeout', '4m', ...VALUES);
  /** Returns what Helm has written of each object. */
  const released = (manifest: string): unknown[] => {
    const { status, stdout, stderr } = feed(manifest, '--namespace', NAMESPACE, 'get', '--output', 'json');
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    return (JSON.parse(stdout) as { items: readonly ReleasedObject[] }).items.map(({ kind, metadata, spec, data }) => {
      const { name, uid, generation, labels, annotations } = metadata;
      return { kind, name, uid, generation, labels, annotations, spec, data };
    });
  };
  beforeAll(() => kubectl('create', 'namespace', NAMESPACE));
  afterAll(() => kubectl('delete', 'namespace', NAMESPACE, '--wait=false'));

  it('that is upgraded without a change keeps every object, and none differs from it', async () => {
    upgrade();
    const manifest = helm('get', 'manifest', 'media');
    const made = await until('the Secrets', 120, () => secretsIn(NAMESPACE).catch(() => null));
    const before = released(manifest);
    expect(before.length).toBeGreaterThan(20);
    upgrade();
    expect(helm('get', 'manifest', 'media')).toBe(manifest);
    expect(released(manifest)).toEqual(before);
    expect(await secretsIn(NAMESPACE)).toBe(made);
    // Flux compares by an apply on the server that changes nothing, as the owner of all fields.
    const diff = ['diff', '--server-side', '--force-conflicts'];
    expect(feed(manifest, '--namespace', NAMESPACE, ...diff)).toMatchObject(NO_DIFFERENCE);
  });
});
