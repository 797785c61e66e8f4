import { createHash, createHmac, generateKeyPairSync, randomUUID, sign, type KeyObject } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import {
  makeIdentityProvider,
  type IdentityProvider,
  type PendingAuthorization,
} from '#api/dashboard/identity-provider.ts';
import { closeServer, listen } from '#crds/process/ops-server.ts';

/** A provider that responds with the ID token of the test. */
const own = generateKeyPairSync('rsa', { modulusLength: 2048 });
const curve = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const stranger = generateKeyPairSync('rsa', { modulusLength: 2048 });
const SECRET = 'secret-of-the-client';
const ACCESS_TOKEN = 'access-token';
let idToken = '';
let algorithms = ['RS256', 'ES256'];
let keys: object[] = [];
let keyReads = 0;

const server = createServer((request, response) => {
  const at = new URL(request.url ?? '', issuer).pathname;
  const answers: Record<string, () => object> = {
    '/.well-known/openid-configuration': () => ({
      issuer,
      authorization_endpoint: `${issuer}/auth`,
      token_endpoint: `${issuer}/token`,
      jwks_uri: `${issuer}/keys`,
      response_types_supported: ['code'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: algorithms,
    }),
    '/token': () => ({ access_token: ACCESS_TOKEN, token_type: 'Bearer', id_token: idToken }),
    '/keys': () => {
      keyReads += 1;
      return { keys };
    },
  };
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answers[at]?.() ?? {}));
});
await listen(server, { host: '127.0.0.1', port: 0 });
const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
afterAll(() => closeServer(server));

beforeEach(() => {
  algorithms = ['RS256', 'ES256'];
  keyReads = 0;
  keys = [
    { ...own.publicKey.export({ format: 'jwk' }), kid: 'rsa', use: 'sig', alg: 'RS256' },
    { ...curve.publicKey.export({ format: 'jwk' }), kid: 'ec', use: 'sig', alg: 'ES256' },
  ];
});

const base64 = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

function jwt(header: object, claims: object, signature: (text: string) => Buffer): string {
  const text = `${base64(header)}.${base64(claims)}`;
  return `${text}.${signature(text).toString('base64url')}`;
}

const rsa = (key: KeyObject) => (text: string) => sign('sha256', Buffer.from(text), key);
const RS256 = { alg: 'RS256', kid: 'rsa' };

type Claims = Record<string, unknown>;

function claimsOf(nonce: string): Claims {
  const seconds = Math.floor(Date.now() / 1000);
  const who = { sub: '42', email: 'Ada@Example.com', email_verified: true };
  return { iss: issuer, aud: 'mediajobs', iat: seconds, exp: seconds + 300, nonce, ...who };
}

const halfHash = (text: string): string =>
  createHash('sha256').update(text).digest().subarray(0, 16).toString('base64url');

/** Signs in with the ID token that `make` returns for a nonce. Rejects when the token is not accepted. */
async function signIn(make: (nonce: string) => string, provider = newProvider()) {
  let started: (PendingAuthorization & { state: string }) | null = null;
  const to = new URL(
    await provider.start((pending) => {
      started = { ...pending, state: randomUUID() };
      return started.state;
    }),
  );
  const pending = started as unknown as PendingAuthorization & { state: string };
  expect(to.searchParams.get('code_challenge_method')).toBe('S256');
  expect(to.href).not.toContain(pending.verifier);
  idToken = make(pending.nonce);
  return provider.finish(new URLSearchParams({ code: 'code', state: pending.state }), pending);
}

function newProvider(): IdentityProvider {
  const redirectUrl = 'https://media.example.com/dashboard/provider/callback';
  return makeIdentityProvider({ issuer, clientId: 'mediajobs', clientSecret: SECRET, redirectUrl });
}

const refused = 'The identity provider did not sign you in';

describe('an ID token', () => {
  it('signs in with a signature by a published RSA or EC key', async () => {
    const identity = { id: `${issuer} 42`, email: 'ada@example.com' };
    expect(await signIn((nonce) => jwt(RS256, claimsOf(nonce), rsa(own.privateKey)))).toEqual(identity);
    const es256 = (text: string) =>
      sign('sha256', Buffer.from(text), { key: curve.privateKey, dsaEncoding: 'ieee-p1363' });
    expect(await signIn((nonce) => jwt({ alg: 'ES256', kid: 'ec' }, claimsOf(nonce), es256))).toEqual(identity);
  });

  it.each<[string, (nonce: string) => string]>([
    ['a signature by another key', (nonce) => jwt(RS256, claimsOf(nonce), rsa(stranger.privateKey))],
    ['no signature', (nonce) => jwt(RS256, claimsOf(nonce), () => Buffer.alloc(0))],
    [
      'claims that were changed after signing',
      (nonce) => {
        const [header, , signature] = jwt(RS256, claimsOf(nonce), rsa(own.privateKey)).split('.');
        return [header, base64({ ...claimsOf(nonce), sub: 'root' }), signature].join('.');
      },
    ],
    ['the algorithm `none`', (nonce) => jwt({ alg: 'none' }, claimsOf(nonce), () => Buffer.alloc(0))],
    [
      "an HMAC with the client's secret",
      (nonce) => jwt({ alg: 'HS256' }, claimsOf(nonce), (text) => createHmac('sha256', SECRET).update(text).digest()),
    ],
    [
      'an HMAC with the public key as its secret',
      (nonce) =>
        jwt({ alg: 'HS256', kid: 'rsa' }, claimsOf(nonce), (text) =>
          createHmac('sha256', own.publicKey.export({ type: 'spki', format: 'pem' }))
            .update(text)
            .digest(),
        ),
    ],
    ['an unknown key id', (nonce) => jwt({ alg: 'RS256', kid: 'new' }, claimsOf(nonce), rsa(own.privateKey))],
    ['a key of another kind', (nonce) => jwt({ alg: 'RS256', kid: 'ec' }, claimsOf(nonce), rsa(own.privateKey))],
    [
      'a key of its own',
      (nonce) =>
        jwt({ ...RS256, jwk: stranger.publicKey.export({ format: 'jwk' }) }, claimsOf(nonce), rsa(stranger.privateKey)),
    ],
    ...(
      [
        ['another issuer', { iss: 'https://evil.example' }],
        ['another audience', { aud: 'another-client' }],
        ['two audiences and another party', { aud: ['mediajobs', 'other'], azp: 'other' }],
        ['its time over', { exp: 1 }],
        ['no expiry', { exp: undefined }],
        ['another nonce', { nonce: 'another' }],
        ['no nonce', { nonce: undefined }],
        ['another access token', { at_hash: halfHash('another') }],
      ] satisfies [string, Claims][]
    ).map(([what, change]): [string, (nonce: string) => string] => [
      what,
      (nonce) => jwt(RS256, { ...claimsOf(nonce), ...change }, rsa(own.privateKey)),
    ]),
  ])('is refused with %s', async (_what, make) => {
    await expect(signIn(make)).rejects.toThrow(refused);
  });

  it('is refused with `none` or an HMAC even if the provider lists them', async () => {
    algorithms = ['none', 'HS256', 'RS256'];
    await expect(signIn((nonce) => jwt({ alg: 'none' }, claimsOf(nonce), () => Buffer.alloc(0)))).rejects.toThrow(
      refused,
    );
    const hmac = (text: string) => createHmac('sha256', SECRET).update(text).digest();
    await expect(signIn((nonce) => jwt({ alg: 'HS256' }, claimsOf(nonce), hmac))).rejects.toThrow(refused);
  });

  it('signs in with the access token of its `at_hash`', async () => {
    const make = (nonce: string) =>
      jwt(RS256, { ...claimsOf(nonce), at_hash: halfHash(ACCESS_TOKEN) }, rsa(own.privateKey));
    expect(await signIn(make)).toMatchObject({ email: 'ada@example.com' });
  });

  it.each([false, undefined, 'true'])('returns no e-mail address when `email_verified` is %j', async (verified) => {
    const make = (nonce: string) => jwt(RS256, { ...claimsOf(nonce), email_verified: verified }, rsa(own.privateKey));
    expect((await signIn(make)).email).toBeNull();
  });

  it('makes the service fetch keys at most once a minute when its key is unknown', async () => {
    const provider = newProvider();
    const make = (nonce: string) => jwt({ alg: 'RS256', kid: randomUUID() }, claimsOf(nonce), rsa(own.privateKey));
    for (let tries = 0; tries < 5; tries += 1) await expect(signIn(make, provider)).rejects.toThrow(refused);
    expect(keyReads).toBe(1);
  });
});
