import type { Account } from '#api/accounts/account.ts';
import { utcMonth } from '#api/billing/calendar.ts';
import { selectSpending } from '#api/billing/ledger-rows.ts';
import { refusalOver } from '#api/billing/spend-cap.ts';
import type { DashboardDeps } from '#api/dashboard/dashboard-deps.ts';
import { html, type Html } from '#api/dashboard/html.ts';
import { icon } from '#api/dashboard/icons.ts';

/** Returns what stops an account's keys, for the top of each of its pages. */
export async function accountAlerts(deps: DashboardDeps, account: Account): Promise<Html> {
  const { id, suspended, unpaidInvoice } = account;
  return html`${suspended && alert('warning', 'This account is suspended: its keys are refused, and nothing may be changed here.')}
  ${unpaidInvoice && alert('bad', 'An invoice is unpaid: live keys are refused until it is paid.')}
  ${await capAlert(deps, account, `/dashboard/accounts/${id}/plan`)}`;
}

async function capAlert({ database, clock }: DashboardDeps, account: Account, plan: string): Promise<Html | null> {
  const now = clock.now();
  const spending = await selectSpending(database, { accountId: account.id, month: utcMonth(now), now });
  const refusal = refusalOver(account, spending);
  if (refusal === null) return null;
  return alert(
    'bad',
    html`New work with live keys is refused. ${refusal.message} <a href="${plan}">Plan and spend cap</a>`,
  );
}

function alert(tone: 'warning' | 'bad', content: Html | string): Html {
  return html`<p class="notice ${tone}" role="alert">${icon('bad')}<span>${content}</span></p>`;
}
