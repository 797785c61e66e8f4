import { PROVIDER_COOKIE, setCookie } from '#api/dashboard/cookies.ts';
import type { DashboardDeps } from '#api/dashboard/dashboard-deps.ts';
import type { IdentityProvider, ProviderTrip } from '#api/dashboard/identity-provider.ts';
import { notFound } from '#api/dashboard/not-found.ts';
import { forAnyone, type Reply, type Route, type Visit } from '#api/dashboard/route.ts';
import { nextOf, signedIn } from '#api/dashboard/signed-in.ts';
import { bindIdentity, findUserByIdentity } from '#api/users/user-rows.ts';
import { MediaError } from '#crds/media-error.ts';

const TRIP_SECONDS = 600;
const CONTEXT = 'dashboard-provider-trip';

/** Sign-in at the company's provider. It signs in who was invited, and makes no users. */
export const providerSignInRoutes: readonly Route[] = [
  forAnyone('GET', '/provider/start', start),
  forAnyone('GET', '/provider/callback', finish),
];

async function start(deps: DashboardDeps, visit: Visit): Promise<Reply> {
  const { address, trip } = await providerOf(deps).start();
  const kept = {
    ...trip,
    next: nextOf(visit.query.get('next')),
    until: deps.clock.now().getTime() + TRIP_SECONDS * 1000,
  };
  const sealed = deps.secretBox.seal(JSON.stringify(kept), CONTEXT).toString('base64url');
  return { kind: 'redirect', to: address, cookies: [setCookie(PROVIDER_COOKIE, sealed, TRIP_SECONDS)] };
}

/** The provider vouches for its own second step. */
async function finish(deps: DashboardDeps, visit: Visit): Promise<Reply> {
  const trip = tripOf(deps, visit);
  const identity = await providerOf(deps).finish(visit.query, trip);
  const known = await findUserByIdentity(deps.database, identity.id);
  const user =
    known ?? (identity.email === null ? null : await bindIdentity(deps.database, identity.email, identity.id));
  if (user === null) {
    throw new MediaError(
      'bad_request',
      'Your company has signed you in, but nobody has invited that e-mail address here. Ask an owner of your account or the operator.',
      { status: 403 },
    );
  }
  const reply = await signedIn(deps, visit, { user, how: 'provider', next: trip.next });
  return reply.kind === 'redirect' ? { ...reply, cookies: [setCookie(PROVIDER_COOKIE, '', 0)] } : reply;
}

function providerOf({ identityProvider }: DashboardDeps): IdentityProvider {
  if (identityProvider === null) throw notFound();
  return identityProvider;
}

function tripOf({ secretBox, clock }: DashboardDeps, { cookies }: Visit): ProviderTrip & { readonly next: string } {
  const lost = (cause?: unknown): MediaError =>
    new MediaError('bad_request', 'This sign-in was not started here, or took too long. Start again.', {
      status: 403,
      cause,
    });
  const sealed = cookies.get(PROVIDER_COOKIE);
  if (sealed === undefined) throw lost();
  try {
    const text = secretBox.open(Buffer.from(sealed, 'base64url'), CONTEXT);
    const trip = JSON.parse(text) as ProviderTrip & { next: string; until: number };
    if (trip.until > clock.now().getTime()) return trip;
  } catch (error) {
    throw lost(error);
  }
  throw lost();
}
