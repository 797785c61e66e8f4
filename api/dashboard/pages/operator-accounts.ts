import type { Account } from '#api/accounts/account.ts';
import { createAccount } from '#api/accounts/create-account.ts';
import { searchAccounts, type ListedAccount } from '#api/accounts/account-list-rows.ts';
import { recordAudit } from '#api/audit/audit.ts';
import { utcMonth } from '#api/billing/calendar.ts';
import { usdOf } from '#api/billing/usd.ts';
import { actorOf } from '#api/dashboard/caller-of.ts';
import type { DashboardDeps } from '#api/dashboard/dashboard-deps.ts';
import { checkbox, EMPTY_FORM, field, formAction, postForm, type FormState } from '#api/dashboard/form.ts';
import { html, type Content } from '#api/dashboard/html.ts';
import { invitationNotice } from '#api/dashboard/invitation-notice.ts';
import { planField, planOf } from '#api/dashboard/plan-field.ts';
import { redirectTo } from '#api/dashboard/redirect-to.ts';
import { forOperator, type PageReply, type Route, type RouteReply, type UserVisit } from '#api/dashboard/route.ts';
import { table } from '#api/dashboard/table.ts';
import { moment, usd } from '#api/dashboard/format-values.ts';
import type { Queryable } from '#api/store/database.ts';
import { checkedEmail } from '#api/users/email-address.ts';
import { setMembership } from '#api/users/membership-rows.ts';
import { inviteUser } from '#api/users/invite-user.ts';

/** Maximum number of accounts on a page. */
const LIMIT = 50;

/** Page that lists, searches and creates accounts of the installation. */
export const operatorAccountRoutes: readonly Route[] = [
  forOperator('GET', '/operator/accounts', accountsPage),
  forOperator(
    'POST',
    '/operator/accounts',
    formAction({ work: create, page: accountsPage, fields: ['name', 'plan', 'email'] }),
  ),
];

async function accountsPage(
  { database, clock, hidesPrices }: DashboardDeps,
  visit: UserVisit,
  form = EMPTY_FORM,
): Promise<PageReply> {
  const text = (visit.query.get('search') ?? '').trim();
  const offset = LIMIT * Math.min(10_000, Number(/^\d{1,6}$/.exec(visit.query.get('page') ?? '')?.[0] ?? 0));
  const search = { text, month: utcMonth(clock.now()), offset, limit: LIMIT + 1 };
  const found = await searchAccounts(database, search);
  const searchForm: FormState = { values: new URLSearchParams({ search: text }), problems: {} };
  const page = (number: number, label: string) =>
    html`<a
      class="button"
      href="/dashboard/operator/accounts?${new URLSearchParams({ search: text, page: String(number) }).toString()}"
      >${label}</a
    >`;
  const body = html`${field(form, { name: 'name', label: 'Name', hint: 'Up to 100 characters.' })} ${planField(form)}
  ${field(form, { name: 'email', label: "Owner's e-mail", hint: 'You get a one-time link to pass on.', type: 'email', required: false })}
  ${checkbox(form, { name: 'own', value: 'owner', label: 'I am its owner: I create keys and see its jobs' })}
  ${checkbox(form, { name: 'payment', value: 'method', label: 'It has a payment method' })}`;
  return {
    kind: 'page',
    title: 'Accounts',
    body: html`<h1>Accounts</h1>
      <form method="get" class="filters" role="search">
        ${field(searchForm, { name: 'search', label: 'Name, id or e-mail', type: 'search', required: false })}
        <button>Search</button>
      </form>
      ${table({
        caption: 'Accounts, newest first',
        columns: [
          'Name',
          'Account',
          'Plan',
          'State',
          ...(hidesPrices ? [] : ['#Spent this month']),
          '#Unfinished jobs',
          'Created',
        ],
        rows: found.slice(0, LIMIT).map((account) => cells(account, hidesPrices)),
        empty: text === '' ? 'No account yet. Create the first one below.' : 'No matching account.',
      })}
      <nav class="pager" aria-label="Pages">
        ${offset > 0 && page(offset / LIMIT - 1, 'Newer')} ${found.length > LIMIT && page(offset / LIMIT + 1, 'Older')}
      </nav>
      <section class="card">
        <h2>Create an account</h2>
        ${postForm(visit, { action: '/operator/accounts', form, body, button: 'Create the account' })}
      </section>`,
  };
}

function cells(account: ListedAccount, hidesPrices: boolean): readonly Content[] {
  const { id, name, plan, suspended, unpaidInvoice, spentMicroUsd, unfinishedJobs, createdAt } = account;
  const state = suspended ? 'suspended' : unpaidInvoice ? 'unpaid' : 'active';
  return [
    html`<a href="/dashboard/operator/accounts/${id}">${name}</a>`,
    html`<code>${id}</code>`,
    plan,
    html`<span class="status ${state}">${state}</span>`,
    ...(hidesPrices ? [] : [usd(usdOf(spentMicroUsd))]),
    unfinishedJobs,
    moment(createdAt),
  ];
}

async function create(deps: DashboardDeps, visit: UserVisit): Promise<RouteReply> {
  const { form } = visit;
  const email = (form.get('email') ?? '').trim();
  if (email !== '') checkedEmail(email);
  const isOwn = form.get('own') === 'owner';
  const caller = actorOf(visit);
  const input = {
    name: form.get('name') ?? '',
    plan: planOf(form),
    paymentMethod: form.get('payment') === 'method',
    features: [],
    ...(isOwn && { alongside: ownedBy(visit) }),
  };
  const account = await createAccount(deps, { caller, input });
  const to = isOwn ? `/accounts/${account.id}` : `/operator/accounts/${account.id}`;
  if (email === '') return redirectTo(to, `The account “${account.name}” is created.`);
  const membership = { accountId: account.id, role: 'owner' } as const;
  const invitation = { email, membership, operator: false, as: 'operator' } as const;
  const invited = await inviteUser(deps, { caller, input: invitation });
  return redirectTo(to, invitationNotice(deps, invited));
}

/** Makes the operator the owner of the new account, which has no files of others yet. */
function ownedBy(visit: UserVisit): (tx: Queryable, account: Account) => Promise<void> {
  return async (tx, { id: accountId, createdAt: at }) => {
    await setMembership(tx, { userId: visit.user.id, accountId, role: 'owner', at });
    await recordAudit(tx, actorOf(visit), { at, action: 'member.accept', target: visit.user.email, accountId });
  };
}
