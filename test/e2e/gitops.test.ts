/** The chart as tools use it that render it and apply the result, such as Argo CD: no Helm in the cluster. */
import { execFileSync, spawnSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { kubectl, until } from '#test/e2e/commands.ts';
import { CHART, IMAGE } from '#test/e2e/installation.ts';

const NAMESPACE = 'mediajobs-gitops';
const IDLE = ['api', 'recorder', 'courier', 'controller', 'engine'].flatMap((name) => ['--set', `${name}.replicas=0`]);

function render(): string {
  const image = ['--set', `image.tag=${IMAGE.tag},image.registry=${IMAGE.registry}`];
  const values = ['--set', 'evaluation.enabled=true,crds.enabled=false', ...image, ...IDLE];
  const args = ['template', 'media', CHART, '--namespace', NAMESPACE, '--kube-version', '1.34.0', '--skip-tests'];
  return execFileSync('helm', [...args, ...values], { encoding: 'utf8' });
}

function feed(...args: string[]): { status: number | null; stdout: string; stderr: string } {
  return spawnSync('kubectl', ['--namespace', NAMESPACE, ...args, '-f', '-'], { input: render(), encoding: 'utf8' });
}

const secretsIn = async (): Promise<string> => {
  const names = ['media-mediajobs-keys', 'media-mediajobs-tls', 'media-mediajobs-evaluation'];
  return kubectl('--namespace', NAMESPACE, 'get', 'secrets', ...names, '--output', 'jsonpath={.items[*].data}');
};

describe('a render that is applied', () => {
  beforeAll(() => kubectl('create', 'namespace', NAMESPACE));
  afterAll(() => kubectl('delete', 'namespace', NAMESPACE, '--wait=false'));

  it('creates the Secrets once, and a second render has no difference', async () => {
    expect(feed('apply')).toMatchObject({ status: 0, stderr: '' });
    const made = await until('the Secrets', 120, () => secretsIn().catch(() => null));
    expect(feed('diff')).toMatchObject({ status: 0, stdout: '', stderr: '' });
    expect(feed('apply')).toMatchObject({ status: 0 });
    expect(await secretsIn()).toBe(made);
  });
});
