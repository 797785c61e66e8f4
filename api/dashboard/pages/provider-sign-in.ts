import type { DashboardDeps } from '#api/dashboard/dashboard-deps.ts';
import type { IdentityProvider, PendingAuthorization } from '#api/dashboard/identity-provider.ts';
import { notFound } from '#api/dashboard/not-found.ts';
import { forAnyone, type Route, type RouteReply, type Visit } from '#api/dashboard/route.ts';
import { finishSignIn, nextOf } from '#api/dashboard/finish-sign-in.ts';
import { findProviderUser } from '#api/users/provider-user.ts';
import { MediaError } from '#crds/contract/media-error.ts';

/** Maximum duration between redirect and callback, in seconds. */
const AUTHORIZATION_SECONDS = 600;

/**
 * Sign-in at the company's provider. `state` contains nonce, PKCE verifier and target path, encrypted and bound to the
 * browser's cookie, so that another browser cannot finish the sign-in.
 */
export const providerSignInRoutes: readonly Route[] = [
  forAnyone('GET', '/provider/start', start),
  forAnyone('GET', '/provider/callback', finish),
];

interface StoredAuthorization extends PendingAuthorization {
  /** Path below the dashboard to redirect to. */
  readonly next: string;
  /** Expiry, in milliseconds since 1970. */
  readonly until: number;
}

async function start(deps: DashboardDeps, visit: Visit): Promise<RouteReply> {
  const until = deps.clock.now().getTime() + AUTHORIZATION_SECONDS * 1000;
  const next = nextOf(visit.query.get('next'));
  const to = await providerOf(deps).start((pending) => {
    const stored: StoredAuthorization = { ...pending, next, until };
    return deps.secretBox.seal(JSON.stringify(stored), contextOf(visit)).toString('base64url');
  });
  return { kind: 'redirect', to };
}

/** Handles the callback. Does not ask for a second step, which is the responsibility of the provider. */
async function finish(deps: DashboardDeps, visit: Visit): Promise<RouteReply> {
  const state = visit.query.get('state') ?? '';
  const pending = openState(deps, visit, state);
  const identity = await providerOf(deps).finish(visit.query, { ...pending, state });
  const link = /^\/links\/([\w-]+)$/.exec(pending.next)?.[1] ?? null;
  const user = await findProviderUser(deps, { identity, signedIn: visit.session?.user ?? null, link });
  if (user !== null) return finishSignIn(deps, visit, { user, how: 'provider', next: pending.next });
  throw new MediaError(
    'bad_request',
    'Your identity provider signed you in, but no login here is connected to it. Open the link of your invitation and sign in from there; or sign in with your password and connect it under Profile.',
    { status: 403 },
  );
}

function providerOf({ identityProvider }: DashboardDeps): IdentityProvider {
  if (identityProvider === null) throw notFound();
  return identityProvider;
}

function contextOf({ browser }: Visit): string {
  return `dashboard-provider-trip ${browser.toString('base64url')}`;
}

function openState({ secretBox, clock }: DashboardDeps, visit: Visit, state: string): StoredAuthorization {
  const invalidState = (cause?: unknown): MediaError =>
    new MediaError('bad_request', 'This sign-in was not started here, or took too long. Start again.', {
      status: 403,
      cause,
    });
  try {
    const opened = secretBox.open(Buffer.from(state, 'base64url'), contextOf(visit));
    const pending = JSON.parse(opened) as StoredAuthorization;
    if (pending.until > clock.now().getTime()) return pending;
  } catch (error) {
    throw invalidState(error);
  }
  throw invalidState();
}
