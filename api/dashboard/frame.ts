/** The HTML document around a page: head, menus and notice. */
import { findAccount } from '#api/accounts/account-rows.ts';
import type { Account } from '#api/accounts/account.ts';
import { accountAlerts } from '#api/dashboard/account-alerts.ts';
import type { Assets } from '#api/dashboard/assets.ts';
import type { DashboardDeps } from '#api/dashboard/dashboard-deps.ts';
import { postForm } from '#api/dashboard/form.ts';
import { html, type Html } from '#api/dashboard/html.ts';
import { icon, type IconName } from '#api/dashboard/icons.ts';
import { menuOf, PARENTS } from '#api/dashboard/menus.ts';
import { monthSpending } from '#api/dashboard/month-spending.ts';
import type { Notice, PageReply, Visit } from '#api/dashboard/route.ts';
import { selectMemberships, type Membership } from '#api/users/membership-rows.ts';

interface FrameContent {
  readonly page: PageReply;
  readonly notice: Notice | null;
  readonly assets: Assets;
}

export async function renderFrame(
  deps: DashboardDeps,
  visit: Visit,
  { page, notice, assets }: FrameContent,
): Promise<Html> {
  const { session } = visit;
  const memberships = session === null ? [] : await selectMemberships(deps.database, session.user.id);
  const account = await shownAccount(deps, visit, memberships);
  return html`<!doctype html>
    <html lang="en">
      ${head(deps.name, page, assets)}
      <body>
        <a class="skip" href="#content">Skip to the content</a>
        <header class="top">
          <a class="brand" href="/dashboard"><img src="${assets.pathOf('icon.svg')}" alt="" />${deps.name}</a>
          ${session !== null && userMenu(visit, memberships, account)}
        </header>
        <div class="${session === null ? 'narrow' : 'columns'}">
          ${session !== null && sideMenu(deps, visit, account)}
          <main id="content" tabindex="-1">
            ${account !== null && accountAlerts(deps, account, page.spending ?? (await monthSpending(deps, account.id)))}
            ${deps.acceptsNoIsolation && visit.path.startsWith('/operator') && NO_ISOLATION_WARNING}
            ${notice !== null && noticeBox(notice)} ${page.body}
          </main>
        </div>
        <footer><a href="${deps.docsUrl}">Documentation</a></footer>
      </body>
    </html>`;
}

function head(name: string, { title, script }: PageReply, { pathOf }: Assets): Html {
  return html`<head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="description" content="Keys, jobs, usage and webhooks of a media processing service" />
    <meta name="color-scheme" content="light dark" />
    <title>${title} – ${name}</title>
    <link rel="icon" href="${pathOf('icon.svg')}" />
    <link rel="stylesheet" href="${pathOf('dashboard.css')}" />
    <script src="${pathOf('dashboard.js')}" type="module"></script>
    ${script !== undefined && html`<script src="${pathOf(script)}" type="module"></script>`}
  </head>`;
}

const NO_ISOLATION_WARNING = html`<p class="notice warning" role="alert">
  MEDIAJOBS_ISOLATION is none: a file that exploits its decoder may reach this machine. The engine's
  <code>/readyz</code> lists what is missing.
</p>`;

async function shownAccount(
  { database }: DashboardDeps,
  { session, path }: Visit,
  memberships: readonly Membership[],
): Promise<Account | null> {
  const id = /^\/accounts\/(acc_[0-9a-z]+)/.exec(path)?.[1];
  if (session === null || id === undefined) return null;
  if (!session.user.operator && memberships.every(({ accountId }) => accountId !== id)) return null;
  return findAccount(database, id);
}

function userMenu(visit: Visit, memberships: readonly Membership[], account: Account | null): Html {
  const user = visit.session?.user;
  return html`<nav class="accounts" aria-label="Accounts and profile">
    ${
      (account !== null || memberships.length > 0) &&
      html`<details class="menu">
        <summary><span>${account?.name ?? 'Accounts'}</span>${icon('expand')}</summary>
        <ul>
          ${memberships.map(({ accountId, accountName }) => html`<li><a href="/dashboard/accounts/${accountId}">${accountName}</a></li>`)}
        </ul>
      </details>`
    }
    ${user?.operator === true && html`<a href="/dashboard/operator">Operator</a>`}
    <a href="/dashboard/profile" title="${user?.email ?? ''}">Profile</a>
    ${postForm(visit, { action: '/sign-out', button: 'Sign out' })}
  </nav>`;
}

function sideMenu({ hidesPrices }: DashboardDeps, { path }: Visit, account: Account | null): Html | null {
  const isOperator = path.startsWith('/operator');
  if (account === null && !isOperator) return null;
  const base = account === null ? '/operator' : `/accounts/${account.id}`;
  const entries = menuOf({ isOperator: account === null, hidesPrices });
  const current = entries.find(([below]) => below === entryOf(path.slice(base.length), account !== null));
  const entry = ([below, label, name]: readonly [string, string, IconName]): Html =>
    html`<li>
      <a href="/dashboard${base}${below}" ${below === current?.[0] && html`aria-current="page"`}
        >${icon(name)}${label}</a
      >
    </li>`;
  return html`<nav class="side" aria-label="${account === null ? 'Operator' : account.name}">
    <details class="pages">
      <summary>${icon('menu')} Menu: ${current?.[1] ?? 'all pages'}</summary>
    </details>
    <ul>
      ${entries.map((pair) => entry(pair))}
    </ul>
  </nav>`;
}

/** Returns the entry of the menu that a path below the account or the operator's pages belongs to. */
function entryOf(path: string, isAccount: boolean): string {
  const part = /^\/[^/]*/.exec(path)?.[0] ?? '';
  return isAccount ? (PARENTS[part] ?? part) : part;
}

function noticeBox({ text, tone = 'good', secret }: Notice): Html {
  if (secret === undefined) return html`<p class="notice toast ${tone}" role="status">${icon(tone)}${text}</p>`;
  return html`<section class="notice" role="status" aria-label="${secret.label}">
    <p>${icon('good')}${text}</p>
    <p class="secret">
      <code id="secret">${secret.value}</code>
      <button type="button" data-copy="secret">Copy</button>
    </p>
    <p>It is shown only now: keep it in a safe place before you leave this page.</p>
  </section>`;
}
