import type { Account } from '#api/accounts/account.ts';
import { updateAccount } from '#api/accounts/update-account.ts';
import type { Spending } from '#api/billing/ledger-rows.ts';
import { spendCapOf } from '#api/billing/spend-cap.ts';
import { microUsdOf, MAX_USD, usdOf } from '#api/billing/usd.ts';
import { actorOf } from '#api/dashboard/caller-of.ts';
import type { DashboardDeps } from '#api/dashboard/dashboard-deps.ts';
import { FEATURE_LABELS } from '#api/dashboard/feature-labels.ts';
import { field, formAction, postForm, type FormState } from '#api/dashboard/form.ts';
import { html, type Html } from '#api/dashboard/html.ts';
import { monthSpending } from '#api/dashboard/month-spending.ts';
import { redirectTo } from '#api/dashboard/redirect-to.ts';
import { forMember, type AccountVisit, type PageReply, type Route, type RouteReply } from '#api/dashboard/route.ts';
import { facts, table } from '#api/dashboard/table.ts';
import { bytes, duration, number, usd } from '#api/dashboard/format-values.ts';
import { isAtLeast } from '#api/users/user.ts';
import { MediaError } from '#crds/contract/media-error.ts';
import { FEATURES, LIMITS, PLANS, type Plan } from '#crds/catalogue/plans.ts';

/** Page with the plan and its limits, and the action that sets the spend cap. */
export const planRoutes: readonly Route[] = [
  forMember('GET', '/accounts/:account/plan', { needs: 'read_only' }, planPage),
  forMember(
    'POST',
    '/accounts/:account/plan/spend-cap',
    { needs: 'owner' },
    formAction({ work: setCap, page: planPage, fields: ['spend_cap_usd'] }),
  ),
];

async function planPage(
  deps: DashboardDeps,
  visit: AccountVisit,
  form: FormState = { values: capValues(visit), problems: {} },
): Promise<PageReply> {
  const { account } = visit;
  if (deps.hidesPrices) return limitPage(account);
  const spending = await monthSpending(deps, account.id);
  return {
    kind: 'page',
    title: `Plan and spend cap – ${account.name}`,
    spending,
    body: html`<h1>Plan and spend cap</h1>
      ${monthSection(account, spending)}
      ${
        isAtLeast(visit.role, 'owner') &&
        html`<section class="card">
          <h2>Change the spend cap</h2>
          ${capForm(visit, form)}
        </section>`
      }
      <h2>Plan</h2>
      ${facts([
        ['Plan', account.plan === 'none' ? 'none: test keys only' : account.plan],
        ['Payment method', account.paymentMethod ? 'yes' : 'none'],
        [
          'Invoice',
          account.unpaidInvoice
            ? html`<strong class="problem">unpaid: live keys are refused</strong>`
            : 'nothing unpaid',
        ],
        ...featureFacts(account),
      ])}
      <p class="hint">The operator of the service changes plan, payment and features.</p>
      <h2>Limits</h2>
      ${limitTable(account)}`,
  };
}

/** Returns the page of an installation that hides prices. */
function limitPage(account: Account): PageReply {
  return {
    kind: 'page',
    title: `Limits – ${account.name}`,
    body: html`<h1>Limits</h1>
      ${facts(featureFacts(account))}
      <p class="hint">The operator of the service changes features and limits.</p>
      ${limitTable(account)}`,
  };
}

function featureFacts({ features }: Account): readonly (readonly [string, string])[] {
  return FEATURES.map((name) => [FEATURE_LABELS[name], features.includes(name) ? 'on' : 'off'] as const);
}

function limitTable({ plan }: Account): Html {
  return table({
    caption: 'Limits of the plan',
    columns: ['Limit', '#Live keys', '#Test keys'],
    rows: limitRows(PLANS[plan]),
    empty: null,
  });
}

function monthSection(account: Account, { spent, running }: Spending): Html {
  const cap = spendCapOf(account);
  const share = cap === 0 ? 100 : Math.min(100, Math.round((100 * (spent + running)) / cap));
  return html`<section class="card ${share >= 100 && 'bad'}">
    <h2>This month</h2>
    <p class="large">${usd(usdOf(spent))} <span class="hint">of ${usd(usdOf(cap))}</span></p>
    <progress value="${share}" max="100" aria-label="Share of the spend cap that is used">${share} %</progress>
    <p>
      ${running > 0 && html`Running work may cost up to ${usd(usdOf(running))} more. `}${share >= 100 ? 'The cap is reached: new work with live keys is refused until the month ends (UTC) or the cap is raised.' : `${share} % of the cap. The count starts again with the next month (UTC).`}
    </p>
  </section>`;
}

function capForm(visit: AccountVisit, form: FormState): Html {
  const standard = spendCapOf({ ...visit.account, spendCapMicroUsd: null });
  const body = field(form, {
    name: 'spend_cap_usd',
    label: 'Monthly spend cap in US dollars',
    hint: `Leave empty for the default of the plan, ${usd(usdOf(standard))}.`,
    inputmode: 'decimal',
    required: false,
  });
  return postForm(visit, { action: `/accounts/${visit.account.id}/plan/spend-cap`, form, body, button: 'Set the cap' });
}

function capValues({ account: { spendCapMicroUsd } }: AccountVisit): URLSearchParams {
  return new URLSearchParams(spendCapMicroUsd === null ? {} : { spend_cap_usd: String(usdOf(spendCapMicroUsd)) });
}

async function setCap(deps: DashboardDeps, visit: AccountVisit): Promise<RouteReply> {
  const { account, form } = visit;
  const text = (form.get('spend_cap_usd') ?? '').trim().replace(/^\$/, '');
  const micro = text === '' ? null : microUsdOf(text);
  if (micro === null && text !== '') {
    const message = `Give US dollars from 0 to ${number(MAX_USD)} with at most 6 decimals, such as 12.50, or leave the field empty.`;
    throw new MediaError('bad_request', message, { param: 'spend_cap_usd' });
  }
  await updateAccount(deps, { caller: actorOf(visit), input: { id: account.id, spendCapMicroUsd: micro } });
  const shown = usd(usdOf(spendCapOf({ ...account, spendCapMicroUsd: micro })));
  return redirectTo(`/accounts/${account.id}/plan`, `The spend cap is ${shown} a month.`);
}

function limitRows(plan: Plan): readonly (readonly string[])[] {
  const both = (name: string, value: string): readonly string[] => [name, value, value];
  return [
    ['Direct requests per second', number(plan.requestsPerSecond), number(LIMITS.testRequestsPerSecond)],
    both('Concurrent direct requests', number(plan.concurrentDirect)),
    both('Unfinished jobs', number(plan.concurrentJobs)),
    ['File of a direct request', bytes(plan.maxSyncBytes), bytes(LIMITS.testDirectBytes)],
    ['File of a job', bytes(plan.maxAsyncBytes), bytes(LIMITS.testJobBytes)],
    both('Video or audio', duration(plan.maxMediaSeconds)),
    both('Pixels of an image or frame', number(plan.maxPixels)),
    both('Pages of a PDF', number(plan.maxPdfPages)),
    both('Frames of an animated image', number(LIMITS.animationFrames)),
    [
      'Uploads in 24 hours',
      bytes(LIMITS.uploadAllowanceFactor * plan.maxAsyncBytes),
      bytes(LIMITS.testUploadAllowanceBytes),
    ],
  ];
}
