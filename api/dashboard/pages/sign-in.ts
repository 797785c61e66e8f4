import { EMPTY_FORM, field, formProblem, postForm, submitted, type FormState } from '#api/dashboard/form.ts';
import type { DashboardDeps } from '#api/dashboard/dashboard-deps.ts';
import { html } from '#api/dashboard/html.ts';
import { forAnyone, type PageReply, type Reply, type Route, type Visit } from '#api/dashboard/route.ts';
import { nextOf, signedIn } from '#api/dashboard/signed-in.ts';
import { isPassword } from '#api/users/password.ts';
import { deleteSession } from '#api/users/session-rows.ts';
import { startSession } from '#api/users/session.ts';
import { countTry, forgetTries, signInCounts } from '#api/users/throttle.ts';
import { findCredentials, findUser } from '#api/users/user-rows.ts';
import { MediaError } from '#crds/media-error.ts';

export const signInRoutes: readonly Route[] = [
  forAnyone('GET', '/sign-in', (deps, visit) =>
    visit.session === null ? signInPage(deps, visit, EMPTY_FORM) : { kind: 'redirect', to: '/' },
  ),
  forAnyone('POST', '/sign-in', (deps, visit) =>
    submitted(visit, {
      work: () => signIn(deps, visit),
      page: (form) => signInPage(deps, visit, form),
      fields: ['email', 'password'],
    }),
  ),
  forAnyone('POST', '/sign-out', async (deps, visit) => {
    const session = visit.session ?? visit.pending;
    if (session !== null) await deleteSession(deps.database, session.digest);
    return { kind: 'redirect', to: '/sign-in', session: null };
  }),
];

function signInPage({ identityProvider }: DashboardDeps, visit: Visit, form: FormState): PageReply {
  const next = nextOf(visit.form.get('next') ?? visit.query.get('next'));
  const body = html`${formProblem(form)}
    <input type="hidden" name="next" value="${next}" />
    ${field(form, { name: 'email', label: 'E-mail', type: 'email', autocomplete: 'username' })}
    ${field(form, { name: 'password', label: 'Password', type: 'password', autocomplete: 'current-password' })}`;
  return {
    kind: 'page',
    title: 'Sign in',
    body: html`<h1>Sign in</h1>
      ${
        visit.query.get('ended') === 'true' &&
        html`<p class="notice warning" role="alert">
          Your session has ended, and nothing was changed. Sign in and repeat it.
        </p>`
      }
      <div class="card">${postForm(visit, { action: '/sign-in', body, button: 'Sign in' })}</div>
      ${
        identityProvider !== null &&
        html`<p>
          <a class="button" href="/dashboard/provider/start?${new URLSearchParams({ next }).toString()}"
            >Sign in with your company</a
          >
        </p>`
      }
      <p class="hint">Forgotten your password? Ask an owner of your account or the operator for a new link.</p>`,
  };
}

async function signIn(deps: DashboardDeps, visit: Visit): Promise<Reply> {
  const email = (visit.form.get('email') ?? '').trim().toLowerCase().slice(0, 200);
  const counts = signInCounts({ email, address: visit.address });
  await countTry(deps, counts);
  const found = await findCredentials(deps.database, email);
  const isRight = await isPassword(visit.form.get('password') ?? '', found?.password ?? null);
  const user = isRight && found !== null ? await findUser(deps.database, found.userId) : null;
  if (user === null) {
    deps.log.info({ address: visit.address }, 'a sign-in to the dashboard failed');
    throw new MediaError('bad_request', 'The e-mail address or the password is wrong.', {
      param: 'password',
      status: 401,
    });
  }
  await forgetTries(deps, counts);
  const next = nextOf(visit.form.get('next'));
  if (!user.hasSecondStep) return signedIn(deps, visit, { user, how: 'password', next });
  const session = await startSession(deps, { userId: user.id, secondStepDue: true, visitor: visit });
  return { kind: 'redirect', to: `/second-step?${new URLSearchParams({ next }).toString()}`, session };
}
