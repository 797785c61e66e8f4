import { spawnSync } from 'node:child_process';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import type { SecretsPlan } from '#api/installation-secrets/make-secrets.ts';
import type { KubeObject } from '#crds/kube/kube-object.ts';
import { settings } from '#crds/process/settings.ts';
import { connectAs, makeNamespace, writeKubeconfig, type TestConnection } from '#test/support/kube-connection.ts';

const PLAN: SecretsPlan = {
  labels: { 'app.kubernetes.io/instance': 'media' },
  owner: 'media-secrets',
  keys: { name: 'media-keys', keep: true },
  tls: { name: 'media-tls', names: ['media-api', 'media.example.com'] },
  evaluation: {
    name: 'media-evaluation',
    earlier: 'media-connections',
    postgresHost: 'media-postgresql',
    redisHost: 'media-redis',
  },
};
const NAMES = ['media-keys', 'media-tls', 'media-evaluation'];

describe('making the Secrets of an installation', () => {
  let connection: TestConnection;
  let namespace: string;
  let kubeconfig: string;

  const run = (plan: SecretsPlan = PLAN): void => {
    const env = { ...process.env, KUBECONFIG: kubeconfig, MEDIAJOBS_SECRETS: JSON.stringify(plan) };
    const { status, stdout, stderr } = spawnSync(process.execPath, ['api/make-secrets.ts'], { env, encoding: 'utf8' });
    expect({ status, stderr, failed: status === 0 ? '' : stdout }).toEqual({ status: 0, stderr: '', failed: '' });
  };
  const path = (name = ''): string => `/api/v1/namespaces/${namespace}/secrets${name === '' ? '' : `/${name}`}`;
  const read = (name: string): Promise<KubeObject> => connection.client.get(path(name));
  const valuesOf = async (name: string): Promise<Record<string, string>> =>
    Object.fromEntries(
      Object.entries((await read(name))['data'] as Record<string, string>).map(([key, value]) => [
        key,
        Buffer.from(value, 'base64').toString(),
      ]),
    );
  const createSecret = (name: string, stringData: object) =>
    connection.client.create(path(), { apiVersion: 'v1', kind: 'Secret', metadata: { name }, stringData });

  beforeAll(() => {
    connection = connectAs(inject('kubeconfig'));
  });
  beforeEach(async () => {
    namespace = await makeNamespace(connection.client);
    kubeconfig = await writeKubeconfig(inject('kubeconfig'), { user: 'admin', namespace });
  });
  afterAll(() => connection.close());

  it('creates keys that the processes accept', async () => {
    run();
    const keys = await valuesOf('media-keys');
    for (const [name, value] of Object.entries(keys)) {
      const { success } = settings.shape[name as keyof typeof settings.shape].safeParse(value);
      expect({ name, success }).toEqual({ name, success: true });
    }
    expect(Object.keys(keys)).toHaveLength(6);
    const tls = await valuesOf('media-tls');
    const certificate = new X509Certificate(tls['tls.crt'] ?? '');
    expect(certificate.checkPrivateKey(createPrivateKey(tls['tls.key'] ?? ''))).toBe(true);
    expect(certificate.checkHost('media.example.com')).toBe('media.example.com');
    const { DATABASE_URL, POSTGRES_PASSWORD } = await valuesOf('media-evaluation');
    expect(DATABASE_URL).toBe(`postgresql://mediajobs:${POSTGRES_PASSWORD}@media-postgresql:5432/mediajobs`);
  });

  it('never changes an existing value', async () => {
    run();
    const before = await Promise.all(NAMES.map((name) => valuesOf(name)));
    run();
    run({ ...PLAN, tls: { name: 'media-tls', names: ['other.example.com'] } });
    expect(await Promise.all(NAMES.map((name) => valuesOf(name)))).toEqual(before);
  });

  it('keeps the Secrets of an earlier chart from being deleted by Helm, and adds the keys that they lack', async () => {
    await createSecret('media-keys', { MEDIAJOBS_KEY_PEPPER: 'earlier pepper of 32 characters!' });
    await createSecret('media-tls', { 'tls.crt': 'earlier', 'tls.key': 'earlier' });
    await createSecret('media-connections', { POSTGRES_PASSWORD: 'earlier' });
    run();
    for (const name of NAMES)
      expect((await read(name)).metadata.annotations).toMatchObject({ 'helm.sh/resource-policy': 'keep' });
    const keys = await valuesOf('media-keys');
    expect(keys['MEDIAJOBS_KEY_PEPPER']).toBe('earlier pepper of 32 characters!');
    expect(Object.keys(keys)).toHaveLength(6);
    expect(await valuesOf('media-tls')).toEqual({ 'tls.crt': 'earlier', 'tls.key': 'earlier' });
    expect(await valuesOf('media-evaluation')).toMatchObject({ POSTGRES_PASSWORD: 'earlier' });
  });

  it('gives Secrets that do not outlive the release an owner in the release', async () => {
    const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'media-secrets' } };
    await connection.client.create(`/api/v1/namespaces/${namespace}/serviceaccounts`, account);
    run();
    const ownersOf = async () =>
      Promise.all(NAMES.map(async (name) => (await read(name)).metadata.ownerReferences?.map((owner) => owner.name)));
    expect(await ownersOf()).toEqual([undefined, ['media-secrets'], ['media-secrets']]);
    run({ ...PLAN, keys: { name: 'media-keys', keep: false } });
    expect(await ownersOf()).toEqual([['media-secrets'], ['media-secrets'], ['media-secrets']]);
    run();
    expect(await ownersOf()).toEqual([undefined, ['media-secrets'], ['media-secrets']]);
  });

  it('creates only what is planned', async () => {
    run({ ...PLAN, tls: null, evaluation: null });
    const { items } = await connection.client.list(path(), {});
    expect(items.map(({ metadata }) => metadata.name)).toEqual(['media-keys']);
  });
});
