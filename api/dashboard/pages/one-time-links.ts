import type { DashboardDeps } from '#api/dashboard/dashboard-deps.ts';
import { EMPTY_FORM, field, formAction, postForm, type FormState } from '#api/dashboard/form.ts';
import { html } from '#api/dashboard/html.ts';
import { acceptHere, invitationPage } from '#api/dashboard/pages/invitations.ts';
import { forAnyone, type PageReply, type Route, type RouteReply, type Visit } from '#api/dashboard/route.ts';
import { finishSignIn, requireSecondStep } from '#api/dashboard/finish-sign-in.ts';
import { linkNotFound } from '#api/users/accept-invitation.ts';
import { useOneTimeLink } from '#api/users/change-credentials.ts';
import { findInvitation, type Invitation } from '#api/users/invitation-rows.ts';
import { findLink, type LinkTarget } from '#api/users/link-rows.ts';
import { newPasswordHash } from '#api/users/new-password.ts';
import { PASSWORD_LENGTH } from '#api/users/password.ts';
import { tokenDigest } from '#api/users/token.ts';

/** Pages of one-time links: invitations, new passwords and sign-in. Opening a link does not use it up. */
export const oneTimeLinkRoutes: readonly Route[] = [
  forAnyone('GET', '/links/:token', async (deps, visit) =>
    pageOf(deps, visit, await targetOf(deps, visit), EMPTY_FORM),
  ),
  forAnyone('POST', '/links/:token', async (deps, visit) => {
    const target = await targetOf(deps, visit);
    const action = formAction<Visit>({
      work: () =>
        target.kind === 'invitation' ? acceptHere(deps, visit, target.invitation) : useLink(deps, visit, target.link),
      page: (_deps, _visit, form) => pageOf(deps, visit, target, form),
      fields: ['password'],
    });
    return action(deps, visit);
  }),
];

type Target =
  | { readonly kind: 'invitation'; readonly invitation: Invitation }
  | { readonly kind: 'link'; readonly link: LinkTarget };

async function targetOf({ database, clock }: DashboardDeps, { params }: Visit): Promise<Target> {
  const digest = tokenDigest(params['token'] ?? '');
  const invitation = await findInvitation(database, digest, clock.now());
  if (invitation !== null) return { kind: 'invitation', invitation };
  const link = await findLink(database, digest, clock.now());
  if (link !== null) return { kind: 'link', link };
  throw linkNotFound();
}

function pageOf(deps: DashboardDeps, visit: Visit, target: Target, form: FormState): PageReply {
  if (target.kind === 'link') return linkPage(visit, target.link, form);
  return invitationPage(deps, visit, { invitation: target.invitation, form });
}

function linkPage(visit: Visit, { email, purpose }: LinkTarget, form: FormState): PageReply {
  const isPassword = purpose !== 'sign_in';
  const title = isPassword ? 'Set a password' : 'Sign in';
  const body = html`<input type="hidden" name="username" value="${email}" autocomplete="username" /> ${
      isPassword &&
      field(form, {
        name: 'password',
        label: 'New password',
        hint: `At least ${PASSWORD_LENGTH.min} characters.`,
        type: 'password',
        autocomplete: 'new-password',
      })
    }`;
  const button = isPassword ? 'Set the password and sign in' : `Sign in as ${email}`;
  return {
    kind: 'page',
    title,
    body: html`<h1>${title}</h1>
      <p>For <strong>${email}</strong>. The link works once.</p>
      <div class="card">${postForm(visit, { action: visit.path, form, body, button })}</div>`,
  };
}

/** Uses a link and signs the user in, after the second step if it is on: a stolen link alone must not be enough. */
async function useLink(deps: DashboardDeps, visit: Visit, { userId, email, purpose }: LinkTarget): Promise<RouteReply> {
  const { address, form } = visit;
  const passwordHash =
    purpose === 'sign_in'
      ? null
      : await newPasswordHash(deps, { email, password: form.get('password') ?? '', userId, address });
  const digest = tokenDigest(visit.params['token'] ?? '');
  const user = await useOneTimeLink(deps, { caller: visit, input: { digest, userId, purpose, passwordHash } });
  if (user === null) throw linkNotFound();
  const signIn = { user, how: 'link', next: '/' };
  return user.hasSecondStep ? requireSecondStep(deps, visit, signIn) : finishSignIn(deps, visit, signIn);
}
