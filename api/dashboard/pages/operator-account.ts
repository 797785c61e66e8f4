import { findAccount } from '#api/accounts/account-rows.ts';
import type { Account } from '#api/accounts/account.ts';
import { updateAccount } from '#api/accounts/update-account.ts';
import { actorOf } from '#api/dashboard/caller-of.ts';
import type { DashboardDeps } from '#api/dashboard/dashboard-deps.ts';
import { FEATURE_LABELS } from '#api/dashboard/feature-labels.ts';
import { checkbox, confirmForm, EMPTY_FORM, field, formAction, postForm, type FormState } from '#api/dashboard/form.ts';
import { html } from '#api/dashboard/html.ts';
import { invitationNotice } from '#api/dashboard/invitation-notice.ts';
import { invitationTable } from '#api/dashboard/invitation-table.ts';
import { planField, planOf } from '#api/dashboard/plan-field.ts';
import { notFound } from '#api/dashboard/not-found.ts';
import { redirectTo } from '#api/dashboard/redirect-to.ts';
import { forOperator, type PageReply, type Route, type RouteReply, type UserVisit } from '#api/dashboard/route.ts';
import { facts, table } from '#api/dashboard/table.ts';
import { moment } from '#api/dashboard/format-values.ts';
import { inviteUser } from '#api/users/invite-user.ts';
import { selectInvitations } from '#api/users/invitation-rows.ts';
import { selectMembers } from '#api/users/membership-rows.ts';
import { FEATURES } from '#crds/catalogue/plans.ts';

const PATH = '/operator/accounts/:id';

/** Page and actions of an account that are reserved for operators. */
export const operatorAccountPageRoutes: readonly Route[] = [
  forOperator('GET', PATH, accountPage),
  forOperator('POST', PATH, formAction({ work: change, page: accountPage, fields: ['plan'] })),
  forOperator('POST', `${PATH}/suspend`, (deps, visit) => suspend(deps, visit, true)),
  forOperator('POST', `${PATH}/reactivate`, (deps, visit) => suspend(deps, visit, false)),
  forOperator(
    'POST',
    `${PATH}/owner`,
    formAction({
      work: addOwner,
      page: (deps, visit, newOwner) => accountPage(deps, visit, undefined, newOwner),
      fields: ['email'],
    }),
  ),
];

async function accountPage(
  deps: DashboardDeps,
  visit: UserVisit,
  form?: FormState,
  newOwner = EMPTY_FORM,
): Promise<PageReply> {
  const account = await accountOf(deps, visit);
  const members = await selectMembers(deps.database, account.id);
  const path = `/operator/accounts/${account.id}`;
  return {
    kind: 'page',
    title: account.name,
    body: html`<p class="parent"><a href="/dashboard/operator/accounts">← Accounts</a></p>
      <h1>${account.name}</h1>
      ${facts([
        ['Account', html`<code>${account.id}</code>`],
        ['Created', moment(account.createdAt)],
        ['State', account.suspended ? html`<strong class="problem">suspended</strong>` : 'active'],
      ])}
      <p>
        <a href="/dashboard/accounts/${account.id}">View it as its members do</a>,
        <a href="/dashboard/accounts/${account.id}/jobs?status=failed">its failed jobs</a>
      </p>
      <section class="card">
        <h2>Plan, payment, features</h2>
        ${settingsForm(visit, account, form ?? { values: valuesOf(account), problems: {} })}
      </section>
      ${
        account.suspended
          ? postForm(visit, { action: `${path}/reactivate`, button: 'Reactivate the account' })
          : confirmForm(visit, {
              summary: 'Suspend the account …',
              action: `${path}/suspend`,
              body: html`<p>
                All its keys are refused from the next request on. Its jobs continue. Members can still view it.
              </p>`,
              button: 'Suspend the account',
            })
      }
      <h2>Members</h2>
      ${table({
        caption: 'Members of the account',
        columns: ['E-mail', 'Role', 'Since'],
        rows: members.map(({ email, role, since }) => [email, role.replace('_', ' '), moment(since)]),
        empty: 'The account has no members yet.',
      })}
      ${invitationTable(await selectInvitations(deps.database, account.id, deps.clock.now()), null)}
      ${postForm(visit, {
        action: `${path}/owner`,
        form: newOwner,
        body: field(newOwner, { name: 'email', label: 'E-mail of another owner', type: 'email' }),
        button: 'Invite the owner',
      })}`,
  };
}

function settingsForm(visit: UserVisit, { id }: Account, form: FormState) {
  const body = html`${planField(form)}
    <fieldset>
      <legend>Payment</legend>
      ${checkbox(form, { name: 'payment', value: 'method', label: 'has a payment method' })}
      ${checkbox(form, { name: 'payment', value: 'unpaid', label: 'has an unpaid invoice' })}
    </fieldset>
    <fieldset>
      <legend>Features</legend>
      ${FEATURES.map((name) => checkbox(form, { name: 'feature', value: name, label: FEATURE_LABELS[name] }))}
    </fieldset>`;
  return postForm(visit, { action: `/operator/accounts/${id}`, form, body, button: 'Save' });
}

function valuesOf({ plan, paymentMethod, unpaidInvoice, features }: Account): URLSearchParams {
  const values = new URLSearchParams({ plan });
  if (paymentMethod) values.append('payment', 'method');
  if (unpaidInvoice) values.append('payment', 'unpaid');
  for (const feature of features) values.append('feature', feature);
  return values;
}

async function accountOf({ database }: DashboardDeps, { params }: UserVisit): Promise<Account> {
  const account = await findAccount(database, params['id'] ?? '');
  if (account === null) throw notFound();
  return account;
}

async function change(deps: DashboardDeps, visit: UserVisit): Promise<RouteReply> {
  const { id } = await accountOf(deps, visit);
  const { form } = visit;
  const payment = form.getAll('payment');
  const on = form.getAll('feature');
  const input = {
    id,
    plan: planOf(form),
    paymentMethod: payment.includes('method'),
    unpaidInvoice: payment.includes('unpaid'),
    addFeatures: FEATURES.filter((name) => on.includes(name)),
    removeFeatures: FEATURES.filter((name) => !on.includes(name)),
  };
  await updateAccount(deps, { caller: actorOf(visit), input });
  return redirectTo(`/operator/accounts/${id}`, 'The account is saved.');
}

async function suspend(deps: DashboardDeps, visit: UserVisit, suspended: boolean): Promise<RouteReply> {
  const { id } = await accountOf(deps, visit);
  await updateAccount(deps, { caller: actorOf(visit), input: { id, suspended } });
  const text = suspended ? 'The account is suspended.' : 'The account is active again.';
  return redirectTo(`/operator/accounts/${id}`, text);
}

async function addOwner(deps: DashboardDeps, visit: UserVisit): Promise<RouteReply> {
  const { id } = await accountOf(deps, visit);
  const membership = { accountId: id, role: 'owner' } as const;
  const email = visit.form.get('email') ?? '';
  const input = { email, membership, operator: false, as: 'operator' } as const;
  const invited = await inviteUser(deps, { caller: actorOf(visit), input });
  return redirectTo(`/operator/accounts/${id}`, invitationNotice(deps, invited));
}
