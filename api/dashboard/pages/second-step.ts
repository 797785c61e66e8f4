import { EMPTY_FORM, field, formAction, postForm } from '#api/dashboard/form.ts';
import type { DashboardDeps } from '#api/dashboard/dashboard-deps.ts';
import { html } from '#api/dashboard/html.ts';
import { forAnyone, type PageReply, type Route, type RouteReply, type Visit } from '#api/dashboard/route.ts';
import { finishSignIn, nextOf } from '#api/dashboard/finish-sign-in.ts';
import { consumeCode } from '#api/users/consume-code.ts';

/** Page for the code of the second step, after the password. */
export const secondStepRoutes: readonly Route[] = [
  forAnyone('GET', '/second-step', (deps, visit) =>
    visit.pending === null ? redirectToSignIn() : codePage(deps, visit),
  ),
  forAnyone('POST', '/second-step', formAction({ work: takeStep, page: codePage, fields: ['code'] })),
];

function redirectToSignIn(): RouteReply {
  return { kind: 'redirect', to: '/sign-in' };
}

function codePage(_deps: DashboardDeps, visit: Visit, form = EMPTY_FORM): PageReply {
  const body = html`<input
      type="hidden"
      name="next"
      value="${nextOf(visit.form.get('next') ?? visit.query.get('next'))}"
    />
    ${field(form, {
      name: 'code',
      label: 'Code',
      hint: 'Six digits from your authenticator app.',
      autocomplete: 'one-time-code',
      inputmode: 'numeric',
    })}`;
  return {
    kind: 'page',
    title: 'Second step',
    body: html`<h1>Second step</h1>
      <div class="card">${postForm(visit, { action: '/second-step', form, body, button: 'Sign in' })}</div>
      <p class="hint">Lost the app? The operator can reset it with <code>mediactl user reset --second-step</code>.</p>`,
  };
}

async function takeStep(deps: DashboardDeps, visit: Visit): Promise<RouteReply> {
  if (visit.pending === null) return redirectToSignIn();
  const { user } = visit.pending;
  await consumeCode(deps, { userId: user.id, address: visit.address, code: visit.form.get('code') ?? '' });
  return finishSignIn(deps, visit, { user, how: 'second_step', next: nextOf(visit.form.get('next')) });
}
