/** Sign-in at a company's OpenID Connect provider: authorization code with PKCE, state and nonce. */
import * as oidc from 'openid-client';
import { MediaError } from '#crds/media-error.ts';

interface ProviderSettings {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly redirectUrl: string;
}

/** What the browser keeps between leaving for the provider and coming back. */
export interface ProviderTrip {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

interface Identity {
  /** Issuer and subject: names one person for ever. */
  readonly id: string;
  /** Lower case; null unless the provider says that it is verified. */
  readonly email: string | null;
}

export interface IdentityProvider {
  /** @throws MediaError engine_busy when the provider does not answer. */
  readonly start: () => Promise<{ address: string; trip: ProviderTrip }>;
  /** @throws MediaError bad_request (403) when the answer is not one to our question. */
  readonly finish: (query: URLSearchParams, trip: ProviderTrip) => Promise<Identity>;
}

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
    start: async () => startTrip(await configuration(), settings.redirectUrl),
    finish: async (query, trip) =>
      finishTrip(await configuration(), { query, trip, redirectUrl: settings.redirectUrl }),
  };
}

async function discover({ issuer, clientId, clientSecret }: ProviderSettings): Promise<oidc.Configuration> {
  const address = new URL(issuer);
  // A provider on this machine, as in tests, may have no certificate.
  const isLocal = address.protocol === 'http:' && /^(localhost|127\.|\[::1\])/.test(address.hostname);
  const execute = isLocal ? [oidc.allowInsecureRequests] : [];
  return oidc.discovery(address, clientId, clientSecret, undefined, { execute });
}

async function startTrip(
  configuration: oidc.Configuration,
  redirectUrl: string,
): Promise<{ address: string; trip: ProviderTrip }> {
  const trip = { state: oidc.randomState(), nonce: oidc.randomNonce(), verifier: oidc.randomPKCECodeVerifier() };
  const address = oidc.buildAuthorizationUrl(configuration, {
    redirect_uri: redirectUrl,
    scope: 'openid email',
    state: trip.state,
    nonce: trip.nonce,
    code_challenge: await oidc.calculatePKCECodeChallenge(trip.verifier),
    code_challenge_method: 'S256',
  });
  return { address: address.href, trip };
}

async function finishTrip(
  configuration: oidc.Configuration,
  { query, trip, redirectUrl }: { query: URLSearchParams; trip: ProviderTrip; redirectUrl: string },
): Promise<Identity> {
  try {
    const tokens = await oidc.authorizationCodeGrant(configuration, new URL(`${redirectUrl}?${query.toString()}`), {
      expectedState: trip.state,
      expectedNonce: trip.nonce,
      pkceCodeVerifier: trip.verifier,
      idTokenExpected: true,
    });
    const claims = tokens.claims();
    if (claims === undefined) throw new Error('the provider sent no ID token');
    const told =
      claims['email'] === undefined ? await oidc.fetchUserInfo(configuration, tokens.access_token, claims.sub) : claims;
    const isVerified = told['email_verified'] === true && typeof told['email'] === 'string';
    return { id: `${claims.iss} ${claims.sub}`, email: isVerified ? told['email'].toLowerCase() : null };
  } catch (error) {
    throw new MediaError('bad_request', 'The identity provider did not sign you in. Start again.', {
      status: 403,
      cause: error,
    });
  }
}
