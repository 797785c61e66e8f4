/** Page of an invitation, which the signed-in login accepts, or a new login with its password. */
import type { DashboardDeps } from '#api/dashboard/dashboard-deps.ts';
import { field, postForm, type FormState } from '#api/dashboard/form.ts';
import { html, type Html } from '#api/dashboard/html.ts';
import { redirectTo } from '#api/dashboard/redirect-to.ts';
import type { PageReply, RouteReply, Visit } from '#api/dashboard/route.ts';
import { finishSignIn } from '#api/dashboard/finish-sign-in.ts';
import { moment } from '#api/dashboard/format-values.ts';
import { acceptInvitation } from '#api/users/accept-invitation.ts';
import type { Invitation } from '#api/users/invitation-rows.ts';
import { newPasswordHash } from '#api/users/new-password.ts';
import { PASSWORD_LENGTH } from '#api/users/password.ts';
import type { User } from '#api/users/user.ts';
import { MediaError } from '#crds/contract/media-error.ts';

const ROLE_LABELS = { owner: 'an owner', developer: 'a developer', read_only: 'a reader' } as const;

export function invitationPage(
  { identityProvider }: Pick<DashboardDeps, 'identityProvider'>,
  visit: Visit,
  { invitation, form }: { invitation: Invitation; form: FormState },
): PageReply {
  const user = visit.session?.user ?? null;
  const isOwn = user?.email === invitation.email;
  return {
    kind: 'page',
    title: 'Invitation',
    body: html`<h1>Invitation</h1>
      <p>For <strong>${invitation.email}</strong>, to be ${offeredRoles(invitation)}. The link works once.</p>
      ${user !== null && isOwn ? ownLoginForm(visit, user, form) : newLoginForm(visit, invitation, form)}
      ${user === null && signInOffers(visit, identityProvider !== null)}
      ${user !== null && !isOwn && html`<p class="hint">You are signed in as ${user.email}. A new login replaces it.</p>`}`,
  };
}

function offeredRoles({ accountName, role, operator }: Invitation): Html {
  const member = role !== null && html`${ROLE_LABELS[role]} of <strong>${accountName}</strong>`;
  if (!operator) return html`${member}`;
  return html`${member}${member !== false && ' and '}an operator of this installation`;
}

/** Returns the form for the signed-in login. It shows when the login was created, so that users recognize their own. */
function ownLoginForm(visit: Visit, user: User, form: FormState): Html {
  const body = html`<p>You are signed in with the login of ${user.email} that was set up ${moment(user.createdAt)}.</p>
    <input type="hidden" name="as" value="${user.id}" />`;
  return html`<div class="card">
      ${postForm(visit, { action: visit.path, form, body, button: 'Accept the invitation' })}
    </div>
    <p class="hint">Not yours? Sign out, open the link again and set a password: that creates a login of your own.</p>`;
}

function newLoginForm(visit: Visit, { email }: Invitation, form: FormState): Html {
  const body = html`<input type="hidden" name="username" value="${email}" autocomplete="username" /> ${field(form, {
      name: 'password',
      label: 'New password',
      hint: `At least ${PASSWORD_LENGTH.min} characters. Do not share it.`,
      type: 'password',
      autocomplete: 'new-password',
    })}`;
  return html`<div class="card">
    ${postForm(visit, { action: visit.path, form, body, button: 'Set the password and sign in' })}
  </div>`;
}

function signInOffers({ path }: Visit, hasProvider: boolean): Html {
  const next = new URLSearchParams({ next: path }).toString();
  return html`<p>
      Do you have a login with this address? <a href="/dashboard/sign-in?${next}">Sign in to accept</a> with it.
    </p>
    ${
      hasProvider &&
      html`<p><a class="button" href="/dashboard/provider/start?${next}">Sign in with your company</a></p>`
    }`;
}

/** Accepts an invitation as the login that the page showed, else as a new login. */
export async function acceptHere(deps: DashboardDeps, visit: Visit, invitation: Invitation): Promise<RouteReply> {
  const { session, form, address } = visit;
  const token = visit.params['token'] ?? '';
  const as = form.get('as');
  if (as !== null) {
    if (session?.user.id !== as) throw signedOutError();
    await acceptInvitation(deps, { caller: visit, input: { token, acceptance: { userId: as } } });
    return redirectTo(homeOf(invitation), 'You have accepted the invitation.');
  }
  const password = form.get('password') ?? '';
  const { email } = invitation;
  const passwordHash = await newPasswordHash(deps, { email, password, userId: null, address });
  const user = await acceptInvitation(deps, { caller: visit, input: { token, acceptance: { passwordHash } } });
  return finishSignIn(deps, visit, { user, how: 'invitation', next: '/' });
}

function signedOutError(): MediaError {
  return new MediaError('bad_request', 'You are no longer signed in with that login. Open the link again.', {
    status: 403,
  });
}

function homeOf({ accountId }: Invitation): string {
  return accountId === null ? '/' : `/accounts/${accountId}`;
}
