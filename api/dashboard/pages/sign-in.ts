import { EMPTY_FORM, field, formAction, postForm } from '#api/dashboard/form.ts';
import type { DashboardDeps } from '#api/dashboard/dashboard-deps.ts';
import { html } from '#api/dashboard/html.ts';
import { forAnyone, type PageReply, type Route, type RouteReply, type Visit } from '#api/dashboard/route.ts';
import { endSession, finishSignIn, nextOf, requireSecondStep } from '#api/dashboard/finish-sign-in.ts';
import { checkSignIn } from '#api/users/check-sign-in.ts';
import { MediaError } from '#crds/contract/media-error.ts';

/** Page for signing in by password, and the action that signs out. */
export const signInRoutes: readonly Route[] = [
  forAnyone('GET', '/sign-in', (deps, visit) =>
    visit.session === null ? signInPage(deps, visit) : { kind: 'redirect', to: '/' },
  ),
  forAnyone('POST', '/sign-in', formAction({ work: signIn, page: signInPage, fields: ['email', 'password'] })),
  forAnyone('POST', '/sign-out', async (deps, visit) => {
    await endSession(deps, visit);
    return { kind: 'redirect', to: '/sign-in', session: null };
  }),
];

function signInPage({ identityProvider }: DashboardDeps, visit: Visit, form = EMPTY_FORM): PageReply {
  const next = nextOf(visit.form.get('next') ?? visit.query.get('next'));
  const body = html`<input type="hidden" name="next" value="${next}" />
    ${field(form, { name: 'email', label: 'E-mail', type: 'email', autocomplete: 'username' })}
    ${field(form, { name: 'password', label: 'Password', type: 'password', autocomplete: 'current-password' })}`;
  return {
    kind: 'page',
    title: 'Sign in',
    body: html`<h1>Sign in</h1>
      ${
        visit.query.get('ended') === 'true' &&
        html`<p class="notice warning" role="alert">
          Your session has ended and nothing was changed. Sign in and try again.
        </p>`
      }
      <div class="card">${postForm(visit, { action: '/sign-in', form, body, button: 'Sign in' })}</div>
      ${
        identityProvider !== null &&
        html`<p>
          <a class="button" href="/dashboard/provider/start?${new URLSearchParams({ next }).toString()}"
            >Sign in with your company</a
          >
        </p>`
      }
      <p class="hint">
        Forgotten your password? The operator can give you a new link; or an owner removes you from the account and
        invites you again.
      </p>`,
  };
}

async function signIn(deps: DashboardDeps, visit: Visit): Promise<RouteReply> {
  const { form, address } = visit;
  const email = (form.get('email') ?? '').trim().toLowerCase().slice(0, 200);
  const user = await checkSignIn(deps, { email, password: form.get('password') ?? '', address });
  if (user === null) {
    deps.log.info({ address }, 'a sign-in to the dashboard failed');
    throw new MediaError('bad_request', 'The e-mail address or the password is wrong.', {
      param: 'password',
      status: 401,
    });
  }
  const next = nextOf(form.get('next'));
  if (user.hasSecondStep) return requireSecondStep(deps, visit, { user, next });
  return finishSignIn(deps, visit, { user, how: 'password', next });
}
