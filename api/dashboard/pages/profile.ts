import { actorOf } from '#api/dashboard/caller-of.ts';
import type { DashboardDeps } from '#api/dashboard/dashboard-deps.ts';
import { EMPTY_FORM, field, formAction, postForm, type FormState } from '#api/dashboard/form.ts';
import { html, type Html } from '#api/dashboard/html.ts';
import { redirectTo } from '#api/dashboard/redirect-to.ts';
import { forUser, type PageReply, type Route, type RouteReply, type UserVisit } from '#api/dashboard/route.ts';
import {
  passwordField,
  pendingSecret,
  secondStepSection,
  type SecondStepForms,
} from '#api/dashboard/second-step-section.ts';
import { table } from '#api/dashboard/table.ts';
import { moment } from '#api/dashboard/format-values.ts';
import { changeCredential } from '#api/users/change-credentials.ts';
import { reauthenticate } from '#api/users/check-sign-in.ts';
import { newPasswordHash } from '#api/users/new-password.ts';
import { PASSWORD_LENGTH } from '#api/users/password.ts';
import { selectSessions, setPendingTotp } from '#api/users/session-rows.ts';
import { endSessions, seenAfter } from '#api/users/session.ts';
import { verifyFirstCode, totpContext } from '#api/users/consume-code.ts';
import { newTotpSecret } from '#api/users/totp.ts';
import { randomWord } from '#crds/contract/ids.ts';
import { MediaError } from '#crds/contract/media-error.ts';

/** Page and actions for the password, second step and sessions of the signed-in user. */
export const profileRoutes: readonly Route[] = [
  forUser('GET', '/profile', (deps, visit) => profilePage(deps, visit)),
  forUser('POST', '/profile/password', profileAction('password', changePassword, ['current', 'password'])),
  forUser('POST', '/profile/second-step/start', profileAction('start', startSecondStep, ['again'])),
  forUser('POST', '/profile/second-step/confirm', profileAction('code', confirmSecondStep, ['code'])),
  forUser('POST', '/profile/second-step/end', profileAction('end', endSecondStep, ['again'])),
  forUser('POST', '/profile/sessions/end', end),
];

interface Forms extends SecondStepForms {
  readonly password?: FormState;
}

/** Returns the handler of one form of the page. A wrong password is a problem of its field `current` or `again`. */
function profileAction(
  form: keyof Forms,
  work: (deps: DashboardDeps, visit: UserVisit) => Promise<RouteReply>,
  fields: readonly string[],
) {
  const names = { current: fields[0] ?? '' };
  return formAction({ work, page: (deps, visit, state) => profilePage(deps, visit, { [form]: state }), fields, names });
}

async function profilePage(deps: DashboardDeps, visit: UserVisit, forms: Forms = {}): Promise<PageReply> {
  const { user } = visit;
  const password = forms.password ?? EMPTY_FORM;
  const passwordForm = html`${user.hasPassword && passwordField(password, 'current')}
  ${field(password, {
    name: 'password',
    label: 'New password',
    hint: `At least ${PASSWORD_LENGTH.min} characters. All other sessions end.`,
    type: 'password',
    autocomplete: 'new-password',
  })}`;
  return {
    kind: 'page',
    title: 'Profile',
    body: html`<h1>Profile</h1>
      <p>Signed in as <strong>${user.email}</strong>${user.operator && ', an operator of this installation'}.</p>
      ${
        deps.identityProvider !== null &&
        !user.hasIdentity &&
        html`<p>
          <a class="button" href="/dashboard/provider/start?next=/profile">Connect with your company's sign-in</a>
        </p>`
      }
      <section>
        <h2>Password</h2>
        ${postForm(visit, { action: '/profile/password', form: password, body: passwordForm, button: 'Change the password' })}
      </section>
      <section>
        <h2>Second step</h2>
        ${await secondStepSection(deps, visit, forms)}
      </section>
      <section>
        <h2>Sessions</h2>
        ${await sessionTable(deps, visit)}
      </section>`,
  };
}

async function sessionTable({ database, clock }: DashboardDeps, visit: UserVisit): Promise<Html> {
  const now = clock.now();
  const sessions = await selectSessions(database, visit.user.id, { now, seenAfter: seenAfter(now) });
  const end = (id: string, label: string): Html =>
    postForm(visit, {
      action: '/profile/sessions/end',
      body: html`<input type="hidden" name="session" value="${id}" />`,
      button: label,
    });
  return html`${table({
    caption: 'Where you are signed in',
    columns: ['Since', 'Last seen', 'Address', 'Browser', 'Session'],
    rows: sessions.map(({ digest, createdAt, seenAt, address, agent }) => [
      moment(createdAt),
      moment(seenAt),
      address,
      agent,
      digest.equals(visit.session.digest)
        ? html`<span class="status active">this one</span>`
        : end(digest.toString('base64url'), 'End'),
    ]),
    empty: 'No sessions.',
  })}
  ${sessions.length > 1 && html`<div class="actions">${end('others', 'End all other sessions')}</div>`}`;
}

/** Checks the current password before a change of credentials. @throws MediaError when it is wrong. */
function requirePassword(deps: DashboardDeps, { user, session, form }: UserVisit): Promise<void> {
  return reauthenticate(deps, { user, session, password: form.get('current') ?? form.get('again') ?? '' });
}

async function changePassword(deps: DashboardDeps, visit: UserVisit): Promise<RouteReply> {
  const { user, form, session, address } = visit;
  await requirePassword(deps, visit);
  const password = form.get('password') ?? '';
  const hash = await newPasswordHash(deps, { email: user.email, password, userId: user.id, address });
  const input = { session: session.digest, credential: { kind: 'password', hash } } as const;
  await changeCredential(deps, { caller: ownerOf(visit), input });
  return redirectTo('/profile', 'Your password is changed; all other sessions have ended.');
}

async function startSecondStep(deps: DashboardDeps, visit: UserVisit): Promise<RouteReply> {
  const { user, session } = visit;
  await requirePassword(deps, visit);
  const sealed = deps.secretBox.seal(newTotpSecret(randomWord), totpContext(user.id));
  await setPendingTotp(deps.database, session.digest, sealed);
  return { kind: 'redirect', to: '/profile' };
}

async function confirmSecondStep(deps: DashboardDeps, visit: UserVisit): Promise<RouteReply> {
  const { user, session, form, address } = visit;
  const secret = await pendingSecret(deps, visit);
  if (secret === null || user.hasSecondStep) {
    throw new MediaError('bad_request', 'Set up the authenticator app first; this asks for your password.');
  }
  const step = await verifyFirstCode(deps, { userId: user.id, address, code: form.get('code') ?? '' }, secret);
  const on = { sealed: deps.secretBox.seal(secret, totpContext(user.id)), step };
  const input = { session: session.digest, credential: { kind: 'second_step', on } } as const;
  await changeCredential(deps, { caller: ownerOf(visit), input });
  return redirectTo('/profile', 'The second step is on; all other sessions have ended.');
}

async function endSecondStep(deps: DashboardDeps, visit: UserVisit): Promise<RouteReply> {
  await requirePassword(deps, visit);
  const input = { session: visit.session.digest, credential: { kind: 'second_step', on: null } } as const;
  await changeCredential(deps, { caller: ownerOf(visit), input });
  return redirectTo('/profile', 'The second step is off; all other sessions have ended.');
}

async function end(deps: DashboardDeps, visit: UserVisit): Promise<RouteReply> {
  const ended = visit.form.get('session') ?? '';
  await endSessions(deps, { caller: actorOf(visit), input: { own: visit.session.digest, ended } });
  return redirectTo('/profile', ended === 'others' ? 'All other sessions have ended.' : 'The session has ended.');
}

/** Returns the caller of a change of credentials: the user, with the count of changes at the password check. */
function ownerOf(visit: UserVisit) {
  return { ...actorOf(visit), user: visit.user };
}
