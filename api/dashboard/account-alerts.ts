import type { Account } from '#api/accounts/account.ts';
import type { Spending } from '#api/billing/ledger-rows.ts';
import { refusalOver } from '#api/billing/spend-cap.ts';
import type { DashboardDeps } from '#api/dashboard/dashboard-deps.ts';
import { html, type Html } from '#api/dashboard/html.ts';
import { icon } from '#api/dashboard/icons.ts';

/** Returns what stops an account's keys, for the top of each of its pages. Refusals are shown where prices are hidden too. */
export function accountAlerts(
  { hidesPrices }: Pick<DashboardDeps, 'hidesPrices'>,
  account: Account,
  spending: Spending,
): Html {
  const { suspended, unpaidInvoice } = account;
  return html`${suspended && alert('warning', 'This account is suspended: its keys are refused, and nothing may be changed here.')}
  ${unpaidInvoice && alert('bad', 'An invoice is unpaid: live keys are refused until it is paid.')}
  ${capAlert(account, spending, hidesPrices)}`;
}

function capAlert(account: Account, spending: Spending, hidesPrices: boolean): Html | null {
  const refusal = refusalOver(account, spending);
  if (refusal === null) return null;
  return alert(
    'bad',
    html`New work with live keys is refused. ${refusal.message}
    ${!hidesPrices && html`<a href="/dashboard/accounts/${account.id}/plan">Plan and spend cap</a>`}`,
  );
}

function alert(tone: 'warning' | 'bad', content: Html | string): Html {
  return html`<p class="notice ${tone}" role="alert">${icon('bad')}<span>${content}</span></p>`;
}
