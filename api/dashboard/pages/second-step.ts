import { EMPTY_FORM, field, formProblem, postForm, submitted, type FormState } from '#api/dashboard/form.ts';
import type { DashboardDeps } from '#api/dashboard/dashboard-deps.ts';
import { html } from '#api/dashboard/html.ts';
import { forAnyone, type PageReply, type Reply, type Route, type Visit } from '#api/dashboard/route.ts';
import { nextOf, signedIn } from '#api/dashboard/signed-in.ts';
import { takeCode } from '#api/users/take-code.ts';

/** The code after the password. */
export const secondStepRoutes: readonly Route[] = [
  forAnyone('GET', '/second-step', (_deps, visit) => (visit.pending === null ? again() : codePage(visit, EMPTY_FORM))),
  forAnyone('POST', '/second-step', (deps, visit) =>
    submitted(visit, { work: () => takeStep(deps, visit), page: (form) => codePage(visit, form), fields: ['code'] }),
  ),
];

function again(): Reply {
  return { kind: 'redirect', to: '/sign-in' };
}

function codePage(visit: Visit, form: FormState): PageReply {
  const body = html`${formProblem(form)}
    <input type="hidden" name="next" value="${nextOf(visit.form.get('next') ?? visit.query.get('next'))}" />
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
      <div class="card">${postForm(visit, { action: '/second-step', body, button: 'Sign in' })}</div>
      <p class="hint">Lost the app? The operator can reset it with <code>mediactl user reset --second-step</code>.</p>`,
  };
}

async function takeStep(deps: DashboardDeps, visit: Visit): Promise<Reply> {
  if (visit.pending === null) return again();
  const { user } = visit.pending;
  await takeCode(deps, user, visit.form.get('code') ?? '');
  return signedIn(deps, visit, { user, how: 'second_step', next: nextOf(visit.form.get('next')) });
}
