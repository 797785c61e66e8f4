import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWK } from 'jose';
import { beforeEach, describe, expect, it } from 'vitest';
import { KEYS_PATH, makeVerifyPodToken, type VerifyPodToken } from '#controller/pod-token.ts';
import { STANDBY_AUDIENCE } from '#crds/contract/run-files.ts';
import { KubeError } from '#crds/kube/kube-error.ts';
import type { KubeObject } from '#crds/kube/kube-object.ts';

interface Signer {
  readonly key: CryptoKey;
  readonly kid: string;
  readonly jwk: JWK;
}

async function makeSigner(kid: string, alg = 'RS256'): Promise<Signer> {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
  return { key: privateKey, kid, jwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' } };
}

describe('makeVerifyPodToken', () => {
  const now = new Date('2026-01-01T00:00:00Z');
  let ms: number;
  let reads: number;
  let keys: Signer[];
  let signer: Signer;
  let verify: VerifyPodToken;

  beforeEach(async () => {
    ms = 0;
    reads = 0;
    signer = await makeSigner('k1');
    keys = [signer];
    const get = async (path: string): Promise<KubeObject> => {
      expect(path).toBe(KEYS_PATH);
      reads += 1;
      if (keys.length === 0) throw new KubeError('forbidden', { status: 403 });
      return { keys: keys.map(({ jwk }) => jwk) } as unknown as KubeObject;
    };
    verify = makeVerifyPodToken({ client: { get }, now: () => now, monotonic: () => ms }, { namespace: 'media' });
  });

  const sign = ({
    audience = STANDBY_AUDIENCE,
    namespace = 'media',
    expires = 3600,
    by = signer,
    pod = { uid: 'uid-1' },
  }: {
    audience?: string;
    namespace?: string;
    expires?: number;
    by?: Signer;
    pod?: object | undefined;
  } = {}): Promise<string> =>
    new SignJWT({ 'kubernetes.io': { namespace, pod, serviceaccount: { name: 'idle' } } })
      .setProtectedHeader({ alg: 'RS256', kid: by.kid })
      .setAudience(audience)
      .setIssuedAt(now)
      .setExpirationTime(now.getTime() / 1000 + expires)
      .sign(by.key);

  it('returns the uid of the pod that the API server has signed, and reads the keys once', async () => {
    expect(await verify(await sign())).toBe('uid-1');
    expect(await verify(await sign({ pod: { uid: 'uid-2' } }))).toBe('uid-2');
    expect(reads).toBe(1);
  });

  it.each([
    ['for another audience', { audience: 'https://kubernetes.default.svc' }],
    ['of another namespace', { namespace: 'other' }],
    ['that has expired', { expires: -60 }],
    ['that is bound to no pod', { pod: {} }],
  ])('refuses a token %s', async (_what, more) => {
    expect(await verify(await sign(more))).toBeNull();
  });

  it('refuses a token of another key, also under a known name, and any other text', async () => {
    const stranger = await makeSigner('k1');
    expect(await verify(await sign({ by: stranger }))).toBeNull();
    for (const text of ['', 'a.b.c', 'not a token']) expect(await verify(text)).toBeNull();
    const [, payload] = (await sign()).split('.');
    const none = Buffer.from(JSON.stringify({ alg: 'none' })).toString('base64url');
    expect(await verify(`${none}.${payload}.`)).toBeNull();
  });

  it('reads rotated keys, once a minute at most', async () => {
    await verify(await sign());
    const rotated = await makeSigner('k2');
    const token = await sign({ by: rotated });
    keys = [signer, rotated];
    expect(await verify(token)).toBeNull();
    ms = 60_000;
    expect(await verify(token)).toBe('uid-1');
    expect(reads).toBe(2);
  });

  it('throws when the keys cannot be read, so that the standby asks again', async () => {
    keys = [];
    await expect(verify(await sign())).rejects.toThrow('forbidden');
    keys = [signer];
    expect(await verify(await sign())).toBe('uid-1');
  });
});
