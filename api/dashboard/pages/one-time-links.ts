import type { DashboardDeps } from '#api/dashboard/dashboard-deps.ts';
import { EMPTY_FORM, field, formProblem, postForm, submitted, type FormState } from '#api/dashboard/form.ts';
import { html } from '#api/dashboard/html.ts';
import { forAnyone, type PageReply, type Reply, type Route, type Visit } from '#api/dashboard/route.ts';
import { signedIn } from '#api/dashboard/signed-in.ts';
import { findLink, takeLink, type LinkTarget } from '#api/users/link-rows.ts';
import { checkedPassword, hashPassword, PASSWORD_LENGTH } from '#api/users/password.ts';
import { deleteSessionsOf } from '#api/users/session-rows.ts';
import { startSession } from '#api/users/session.ts';
import { tokenDigest } from '#api/users/token.ts';
import { findUser, setPassword } from '#api/users/user-rows.ts';
import type { User } from '#api/users/user.ts';
import { MediaError } from '#crds/media-error.ts';

/** Invitations, resets, and the sign-in link of a new installation. Opening one changes nothing. */
export const oneTimeLinkRoutes: readonly Route[] = [
  forAnyone('GET', '/links/:token', async (deps, visit) => linkPage(visit, await targetOf(deps, visit), EMPTY_FORM)),
  forAnyone('POST', '/links/:token', async (deps, visit) => {
    const target = await targetOf(deps, visit);
    return submitted(visit, {
      work: () => useLink(deps, visit, target),
      page: (form) => linkPage(visit, target, form),
      fields: ['password'],
    });
  }),
];

async function targetOf({ database, clock }: DashboardDeps, { params }: Visit): Promise<LinkTarget> {
  const target = await findLink(database, tokenDigest(params['token'] ?? ''), clock.now());
  if (target !== null) return target;
  throw new MediaError('not_found', 'This link was used, or its time is over. Ask for a new one.');
}

function linkPage(visit: Visit, { email, purpose }: LinkTarget, form: FormState): PageReply {
  const isPassword = purpose === 'password';
  const title = isPassword ? 'Set a password' : 'Sign in';
  const body = html`${formProblem(form)}
    <input type="hidden" name="username" value="${email}" autocomplete="username" />
    ${
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
      <div class="card">${postForm(visit, { action: visit.path, body, button })}</div>`,
  };
}

async function useLink(deps: DashboardDeps, visit: Visit, { userId, email, purpose }: LinkTarget): Promise<Reply> {
  const password = purpose === 'password' ? checkedPassword(visit.form.get('password') ?? '', { email }) : null;
  const hashed = password === null ? null : await hashPassword(password);
  const isFirst = await deps.database.transaction(async (tx) => {
    if (!(await takeLink(tx, tokenDigest(visit.params['token'] ?? ''), deps.clock.now()))) return false;
    if (hashed !== null) {
      await setPassword(tx, userId, hashed);
      await deleteSessionsOf(tx, userId, null);
    }
    return true;
  });
  const user = isFirst ? await findUser(deps.database, userId) : null;
  if (user === null) throw new MediaError('not_found', 'This link was used. Ask for a new one.');
  return afterLink(deps, visit, { user, how: purpose === 'password' ? 'invitation' : 'link' });
}

/** Somebody else's mailbox alone is not enough where a second step is on. */
async function afterLink(
  deps: DashboardDeps,
  visit: Visit,
  { user, how }: { user: User; how: string },
): Promise<Reply> {
  if (!user.hasSecondStep) return signedIn(deps, visit, { user, how, next: '/' });
  const session = await startSession(deps, { userId: user.id, secondStepDue: true, visitor: visit });
  return { kind: 'redirect', to: '/second-step', session };
}
