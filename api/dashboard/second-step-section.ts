/** The section of the profile page that switches the second step of signing in on and off. */
import { renderSVG } from 'uqr';
import type { DashboardDeps } from '#api/dashboard/dashboard-deps.ts';
import { confirmForm, EMPTY_FORM, field, postForm, type FormState } from '#api/dashboard/form.ts';
import { Html, html, type Content } from '#api/dashboard/html.ts';
import type { UserVisit } from '#api/dashboard/route.ts';
import { findPendingTotp } from '#api/users/session-rows.ts';
import { totpContext } from '#api/users/consume-code.ts';
import { totpAddress } from '#api/users/totp.ts';
import type { User } from '#api/users/user.ts';

export interface SecondStepForms {
  readonly start?: FormState;
  readonly code?: FormState;
  readonly end?: FormState;
}

/** Returns the section with the form of the next action. */
export async function secondStepSection(deps: DashboardDeps, visit: UserVisit, forms: SecondStepForms): Promise<Html> {
  const { user } = visit;
  if (user.hasSecondStep) {
    return html`<p>On: signing in requires a code from your authenticator app.</p>
      ${confirmForm(visit, {
        summary: 'Switch the second step off …',
        action: '/profile/second-step/end',
        ...passwordAgain(user, forms.end),
        button: 'Switch it off',
      })}`;
  }
  const secret = await pendingSecret(deps, visit);
  if (secret !== null) return confirmationForm(visit, { secret, name: deps.name }, forms.code);
  return html`<p>Off. With a second step, a stolen password is not enough to sign in.</p>
    ${postForm(visit, {
      action: '/profile/second-step/start',
      ...passwordAgain(user, forms.start),
      button: 'Set up an authenticator app',
    })}`;
}

function passwordAgain({ hasPassword }: User, form = EMPTY_FORM): { form: FormState; body: Content } {
  return { form, body: hasPassword && passwordField(form, 'again') };
}

function confirmationForm(
  visit: UserVisit,
  { secret, name }: { secret: string; name: string },
  form = EMPTY_FORM,
): Html {
  const address = totpAddress(secret, { email: visit.user.email, name });
  const image = new Html(renderSVG(address, { pixelSize: 5 }));
  return html`<p>Scan this with your authenticator app, or type the key, then give the code that the app shows.</p>
    <div class="qr" role="img" aria-label="QR code of the key below">${image}</div>
    <p>Key: <code>${secret.match(/.{4}/g)?.join(' ') ?? secret}</code></p>
    ${postForm(visit, {
      action: '/profile/second-step/confirm',
      form,
      body: field(form, { name: 'code', label: 'Code', autocomplete: 'one-time-code', inputmode: 'numeric' }),
      button: 'Switch the second step on',
    })}`;
}

/** Returns the secret that this session is setting up, hidden from other sessions; null without one. */
export async function pendingSecret({ database, secretBox }: DashboardDeps, { user, session }: UserVisit) {
  const sealed = await findPendingTotp(database, session.digest);
  return sealed === null ? null : secretBox.open(sealed, totpContext(user.id));
}

/** Returns the field for the current password. @param name unique on the page, which may have two such fields. */
export function passwordField(form: FormState, name: 'current' | 'again'): Html {
  return field(form, { name, label: 'Current password', type: 'password', autocomplete: 'current-password' });
}
