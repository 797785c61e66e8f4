/**
 * Sign-in at a company's OpenID Connect provider: authorization code with PKCE, state and nonce. The ID token's
 * signature is verified with the provider's published keys. They are fetched again for an unknown key, at most once a
 * minute. Only asymmetric signatures are accepted: neither `none` nor an HMAC with the client's secret.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import * as oidc from 'openid-client';
import { MediaError } from '#crds/contract/media-error.ts';

interface ProviderSettings {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly redirectUrl: string;
}

/** Secrets of a sign-in between the redirect to the provider and the callback, hidden from browser and provider. */
export interface PendingAuthorization {
  readonly nonce: string;
  readonly verifier: string;
}

interface Identity {
  /** Issuer and subject, which identify a person permanently. */
  readonly id: string;
  /** E-mail address in lower case; null unless the provider reports it as verified. */
  readonly email: string | null;
}

export interface IdentityProvider {
  /**
   * Returns the URL to redirect to. @param stateOf returns the `state`, which the provider repeats in the callback.
   * @throws MediaError engine_busy when the provider does not answer.
   */
  readonly start: (stateOf: (pending: PendingAuthorization) => string) => Promise<string>;
  /** Returns the identity in a callback. @throws MediaError bad_request (403) when the callback is not valid. */
  readonly finish: (
    query: URLSearchParams,
    pending: PendingAuthorization & { readonly state: string },
  ) => Promise<Identity>;
}

/** Returns a client of the provider, which discovers its endpoints on first use. */
export function makeIdentityProvider(settings: ProviderSettings): IdentityProvider {
  let found: Promise<oidc.Configuration> | null = null;
  const configuration = async (): Promise<oidc.Configuration> => {
    found ??= discover(settings);
    try {
      return await found;
    } catch (error) {
      found = null;
      throw new MediaError('engine_busy', 'The identity provider does not answer. Try again, or use a password.', {
        cause: error,
      });
    }
  };
  return {
    start: async (stateOf) => startAuthorization(await configuration(), settings.redirectUrl, stateOf),
    finish: async (query, pending) =>
      finishAuthorization(await configuration(), { query, pending, redirectUrl: settings.redirectUrl }),
  };
}

async function discover({ issuer, clientId, clientSecret }: ProviderSettings): Promise<oidc.Configuration> {
  const address = new URL(issuer);
  // A provider on this machine, as in tests, may use http.
  const isLocal = address.protocol === 'http:' && /^(localhost|127\.|\[::1\])/.test(address.hostname);
  const execute = [oidc.enableNonRepudiationChecks, ...(isLocal ? [oidc.allowInsecureRequests] : [])];
  return oidc.discovery(address, clientId, clientSecret, undefined, { execute });
}

async function startAuthorization(
  configuration: oidc.Configuration,
  redirectUrl: string,
  stateOf: (pending: PendingAuthorization) => string,
): Promise<string> {
  const pending = { nonce: oidc.randomNonce(), verifier: oidc.randomPKCECodeVerifier() };
  const address = oidc.buildAuthorizationUrl(configuration, {
    redirect_uri: redirectUrl,
    scope: 'openid email',
    state: stateOf(pending),
    nonce: pending.nonce,
    code_challenge: await oidc.calculatePKCECodeChallenge(pending.verifier),
    code_challenge_method: 'S256',
  });
  return address.href;
}

async function finishAuthorization(
  configuration: oidc.Configuration,
  {
    query,
    pending,
    redirectUrl,
  }: { query: URLSearchParams; pending: PendingAuthorization & { readonly state: string }; redirectUrl: string },
): Promise<Identity> {
  try {
    const tokens = await oidc.authorizationCodeGrant(configuration, new URL(`${redirectUrl}?${query.toString()}`), {
      expectedState: pending.state,
      expectedNonce: pending.nonce,
      pkceCodeVerifier: pending.verifier,
      idTokenExpected: true,
    });
    const claims = tokens.claims();
    if (claims === undefined) throw new Error('the provider sent no ID token');
    checkTokenHash(tokens.id_token ?? '', claims['at_hash'], tokens.access_token);
    const profile =
      claims['email'] === undefined ? await oidc.fetchUserInfo(configuration, tokens.access_token, claims.sub) : claims;
    const isVerified = profile['email_verified'] === true && typeof profile['email'] === 'string';
    return { id: `${claims.iss} ${claims.sub}`, email: isVerified ? profile['email'].toLowerCase() : null };
  } catch (error) {
    throw new MediaError('bad_request', 'The identity provider did not sign you in. Start again.', {
      status: 403,
      cause: error,
    });
  }
}

/** Checks the access token against the `at_hash` claim of the ID token, if present. @throws Error on a mismatch. */
function checkTokenHash(idToken: string, claim: unknown, accessToken: string): void {
  if (claim === undefined) return;
  const header = JSON.parse(Buffer.from(idToken.split('.')[0] ?? '', 'base64url').toString()) as { alg: string };
  const bits = /(256|384|512)$/.exec(header.alg)?.[1] ?? '512';
  const digest = createHash(`sha${bits}`).update(accessToken, 'ascii').digest();
  const [given, wanted] = [
    Buffer.from(typeof claim === 'string' ? claim : '', 'base64url'),
    digest.subarray(0, digest.length / 2),
  ];
  if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) {
    throw new Error('the access token is not the one that the ID token names');
  }
}
