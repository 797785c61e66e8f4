import { renderSVG } from 'uqr';
import { audit } from '#api/dashboard/audit.ts';
import type { DashboardDeps } from '#api/dashboard/dashboard-deps.ts';
import { confirmed, EMPTY_FORM, field, formProblem, postForm, submitted, type FormState } from '#api/dashboard/form.ts';
import { Html, html } from '#api/dashboard/html.ts';
import { forUser, type PageReply, type Reply, type Route, type UserVisit } from '#api/dashboard/route.ts';
import { table } from '#api/dashboard/table.ts';
import { moment } from '#api/dashboard/text.ts';
import { checkedPassword, hashPassword, isPassword, PASSWORD_LENGTH } from '#api/users/password.ts';
import { deleteSession, deleteSessionsOf, selectSessions } from '#api/users/session-rows.ts';
import { seenAfter } from '#api/users/session.ts';
import { takeCode, totpContext } from '#api/users/take-code.ts';
import { codeCounts, countTry, forgetTries } from '#api/users/throttle.ts';
import { newTotpSecret, totpAddress } from '#api/users/totp.ts';
import { findCredentials, findTotpSecret, setPassword, setTotpSecret } from '#api/users/user-rows.ts';
import { randomWord } from '#crds/ids.ts';
import { MediaError } from '#crds/media-error.ts';

/** What a person may change about themselves. */
export const profileRoutes: readonly Route[] = [
  forUser('GET', '/profile', (deps, visit) => profilePage(deps, visit)),
  forUser('POST', '/profile/password', (deps, visit) =>
    submitted(visit, {
      work: () => changePassword(deps, visit),
      page: (password) => profilePage(deps, visit, { password }),
      fields: ['current', 'password'],
    }),
  ),
  forUser('POST', '/profile/second-step/start', startSecondStep),
  forUser('POST', '/profile/second-step/confirm', (deps, visit) =>
    submitted(visit, {
      work: () => confirmSecondStep(deps, visit),
      page: (code) => profilePage(deps, visit, { code }),
      fields: ['code'],
    }),
  ),
  forUser('POST', '/profile/second-step/end', (deps, visit) =>
    submitted(visit, {
      work: () => endSecondStep(deps, visit),
      page: (end) => profilePage(deps, visit, { end }),
      fields: ['current'],
    }),
  ),
  forUser('POST', '/profile/sessions/end', endSessions),
];

interface Forms {
  readonly password?: FormState;
  readonly code?: FormState;
  readonly end?: FormState;
}

async function profilePage(deps: DashboardDeps, visit: UserVisit, forms: Forms = {}): Promise<PageReply> {
  const { user } = visit;
  const password = forms.password ?? EMPTY_FORM;
  const passwordForm = html`${formProblem(password)} ${user.hasPassword && currentField(password)}
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
      <section>
        <h2>Password</h2>
        ${postForm(visit, { action: '/profile/password', body: passwordForm, button: 'Change the password' })}
      </section>
      <section>
        <h2>Second step</h2>
        ${await secondStep(deps, visit, forms)}
      </section>
      <section>
        <h2>Sessions</h2>
        ${await sessionTable(deps, visit)}
      </section>`,
  };
}

function currentField(form: FormState): Html {
  return field(form, {
    name: 'current',
    label: 'Current password',
    type: 'password',
    autocomplete: 'current-password',
  });
}

async function secondStep(deps: DashboardDeps, visit: UserVisit, forms: Forms): Promise<Html> {
  const { user } = visit;
  if (user.hasSecondStep) {
    return html`<p>On: signing in needs a code of your authenticator app.</p>
      ${confirmed(visit, {
        summary: 'Switch the second step off …',
        action: '/profile/second-step/end',
        body: html`${formProblem(forms.end ?? EMPTY_FORM)}${currentField(forms.end ?? EMPTY_FORM)}`,
        button: 'Switch it off',
        danger: true,
      })}`;
  }
  const sealed = await findTotpSecret(deps.database, user.id);
  if (sealed === null) {
    return html`<p>Off. With it a stolen password alone lets nobody in.</p>
      ${postForm(visit, { action: '/profile/second-step/start', body: null, button: 'Set up an authenticator app' })}`;
  }
  const secret = deps.secretBox.open(sealed, totpContext(user.id));
  const form = forms.code ?? EMPTY_FORM;
  const picture = new Html(renderSVG(totpAddress(secret, user.email), { pixelSize: 5 }));
  return html`<p>Scan this with your authenticator app, or type the key, then give the code that the app shows.</p>
    <div class="qr" role="img" aria-label="QR code of the key below">${picture}</div>
    <p>Key: <code>${secret.match(/.{4}/g)?.join(' ') ?? secret}</code></p>
    ${postForm(visit, {
      action: '/profile/second-step/confirm',
      body: html`${formProblem(form)}
      ${field(form, { name: 'code', label: 'Code', autocomplete: 'one-time-code', inputmode: 'numeric' })}`,
      button: 'Switch the second step on',
    })}`;
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
    columns: ['Since', 'Last seen', 'Address', 'Browser', 'End'],
    rows: sessions.map(({ digest, createdAt, seenAt, address, agent }) => [
      moment(createdAt),
      moment(seenAt),
      address,
      agent,
      digest.equals(visit.session.digest) ? 'this one' : end(digest.toString('base64url'), 'End'),
    ]),
    empty: 'No sessions.',
  })}
  ${end('others', 'End all other sessions')}`;
}

/** Who is signed in gives the password again before it matters. */
async function requirePassword(deps: DashboardDeps, { user, form }: UserVisit): Promise<void> {
  if (!user.hasPassword) return;
  const counts = codeCounts(user.id);
  await countTry(deps, counts);
  const found = await findCredentials(deps.database, user.email);
  if (!(await isPassword(form.get('current') ?? '', found?.password ?? null)))
    throw new MediaError('bad_request', 'This is not your current password.', { param: 'current' });
  await forgetTries(deps, counts);
}

async function changePassword(deps: DashboardDeps, visit: UserVisit): Promise<Reply> {
  const { user, form, session } = visit;
  await requirePassword(deps, visit);
  await setPassword(deps.database, user.id, await hashPassword(checkedPassword(form.get('password') ?? '', user)));
  await deleteSessionsOf(deps.database, user.id, session.digest);
  await note(deps, visit, 'password.change');
  return done('Your password is changed; all other sessions have ended.');
}

async function startSecondStep(deps: DashboardDeps, { user }: UserVisit): Promise<Reply> {
  if (!user.hasSecondStep) {
    const sealed = deps.secretBox.seal(newTotpSecret(randomWord), totpContext(user.id));
    await setTotpSecret(deps.database, user.id, sealed);
  }
  return { kind: 'redirect', to: '/profile' };
}

async function confirmSecondStep(deps: DashboardDeps, visit: UserVisit): Promise<Reply> {
  await takeCode(deps, visit.user, visit.form.get('code') ?? '');
  await note(deps, visit, 'second_step.on');
  return done('The second step is on.');
}

async function endSecondStep(deps: DashboardDeps, visit: UserVisit): Promise<Reply> {
  await requirePassword(deps, visit);
  await setTotpSecret(deps.database, visit.user.id, null);
  await note(deps, visit, 'second_step.off');
  return done('The second step is off.');
}

async function endSessions(deps: DashboardDeps, visit: UserVisit): Promise<Reply> {
  const { database, clock } = deps;
  const asked = visit.form.get('session') ?? '';
  const now = clock.now();
  if (asked === 'others') await deleteSessionsOf(database, visit.user.id, visit.session.digest);
  else {
    const own = await selectSessions(database, visit.user.id, { now, seenAfter: seenAfter(now) });
    const named = own.find(({ digest }) => digest.toString('base64url') === asked);
    if (named !== undefined) await deleteSession(database, named.digest);
  }
  await note(deps, visit, 'session.end');
  return done(asked === 'others' ? 'All other sessions have ended.' : 'The session has ended.');
}

async function note(deps: DashboardDeps, visit: UserVisit, action: string): Promise<void> {
  await audit(deps, visit, { action, target: visit.user.email, accountId: null });
}

function done(text: string): Reply {
  return { kind: 'redirect', to: '/profile', notice: { text } };
}
