import type { Account } from '#api/accounts/account.ts';
import type { KeyMode } from '#api/accounts/api-key.ts';
import { createKey } from '#api/accounts/create-key.ts';
import { selectKeys, type KeyRow } from '#api/accounts/key-rows.ts';
import { revokeKey } from '#api/accounts/revoke-key.ts';
import { actorOf } from '#api/dashboard/caller-of.ts';
import type { DashboardDeps } from '#api/dashboard/dashboard-deps.ts';
import { confirmForm, EMPTY_FORM, field, formAction, postForm, type FormState } from '#api/dashboard/form.ts';
import { html, type Content, type Html } from '#api/dashboard/html.ts';
import { notFound } from '#api/dashboard/not-found.ts';
import { redirectTo } from '#api/dashboard/redirect-to.ts';
import { forMember, type AccountVisit, type PageReply, type Route, type RouteReply } from '#api/dashboard/route.ts';
import { table } from '#api/dashboard/table.ts';
import { ago, counted, number } from '#api/dashboard/format-values.ts';
import { isAtLeast } from '#api/users/user.ts';
import { MediaError } from '#crds/contract/media-error.ts';
import { LIMITS, PLANS } from '#crds/catalogue/plans.ts';

/** Page that lists, creates and revokes API keys. */
export const keyRoutes: readonly Route[] = [
  forMember('GET', '/accounts/:account/keys', { needs: 'read_only' }, keyPage),
  forMember(
    'POST',
    '/accounts/:account/keys',
    { needs: 'developer' },
    formAction({ work: create, page: keyPage, fields: ['name', 'mode', 'allow_list'] }),
  ),
  forMember('POST', '/accounts/:account/keys/:key/revoke', { needs: 'developer', whileSuspended: true }, revoke),
];

async function keyPage(deps: DashboardDeps, visit: AccountVisit, form = EMPTY_FORM): Promise<PageReply> {
  const { account } = visit;
  const keys = (await selectKeys(deps.database, account.id)).toReversed();
  const active = keys.filter(({ revokedAt }) => revokedAt === null);
  const revoked = keys.filter(({ revokedAt }) => revokedAt !== null);
  const mayChange = isAtLeast(visit.role, 'developer');
  return {
    kind: 'page',
    title: `API keys – ${account.name}`,
    body: html`<h1>API keys</h1>
      <p>${counted(active.length, 'active key')} of ${LIMITS.activeKeys}. ${limitsText(account)}</p>
      ${table({
        caption: 'Active keys',
        columns: ['Name', 'Key', 'Mode', 'Addresses', 'Created', 'Last used', ...(mayChange ? ['Revoke'] : [])],
        rows: active.map((key) => [...cells(key), ...(mayChange ? [revocationForm(visit, key)] : [])]),
        empty: mayChange ? 'No active key. Create one below; a test key costs nothing.' : 'No active key.',
      })}
      ${
        mayChange &&
        html`<section class="card">
          <h2>Create a key</h2>
          ${creationForm(deps, visit, form)}
        </section>`
      }
      ${
        revoked.length > 0 &&
        html`<details>
          <summary>${counted(revoked.length, 'revoked key')}</summary>
          ${table({
            caption: 'Revoked keys',
            columns: ['Name', 'Key', 'Mode', 'Addresses', 'Created', 'Last used', 'Revoked'],
            rows: revoked.map((key) => [...cells(key), ago(key.revokedAt)]),
            empty: null,
          })}
        </details>`
      }`,
  };
}

/** Returns the limits of keys, which those of one mode share. */
function limitsText({ id, plan }: Account): Html {
  const { requestsPerSecond, concurrentDirect } = PLANS[plan];
  return html`Direct requests per second: ${number(requestsPerSecond)} of all live keys,
    ${number(LIMITS.testRequestsPerSecond)} of all test keys, ${number(concurrentDirect)} at the same time.
    <a href="/dashboard/accounts/${id}/plan">All limits</a>`;
}

function cells({ name, hint, livemode, allowList, createdAt, lastUsedAt, exposedAt }: KeyRow): readonly Content[] {
  const exposed =
    exposedAt !== null &&
    html` <strong class="problem">was sent over plain http: others may know it, replace it</strong>`;
  return [
    html`${name}${exposed}`,
    html`<code>${hint}</code>`,
    html`<span class="status ${livemode ? 'active' : ''}">${livemode ? 'live' : 'test'}</span>`,
    allowList.length === 0
      ? 'any'
      : html`<ul class="plain">
          ${allowList.map((entry) => html`<li><code>${entry}</code></li>`)}
        </ul>`,
    ago(createdAt),
    ago(lastUsedAt, 'never'),
  ];
}

function revocationForm(visit: AccountVisit, { id, name, hint }: KeyRow): Html {
  return confirmForm(visit, {
    summary: `Revoke ${name} …`,
    action: `/accounts/${visit.account.id}/keys/${id}/revoke`,
    body: html`<p>
      Requests with <code>${hint}</code> are refused within 30 seconds. Its jobs continue. This cannot be undone.
    </p>`,
    button: 'Revoke permanently',
  });
}

function creationForm({ hidesPrices }: DashboardDeps, visit: AccountVisit, form: FormState): Html {
  const body = html`${field(form, { name: 'name', label: 'Name', hint: 'Up to 60 characters; where the key is used.' })}
  ${field(form, {
    name: 'mode',
    label: 'Mode',
    hint: `A live key accepts your own files${hidesPrices ? '' : ' and is billed'}; a test key accepts the published samples.`,
    choices: [
      ['test', 'test'],
      ['live', 'live'],
    ],
  })}
  ${field(form, {
    name: 'allow_list',
    label: 'Allowed addresses',
    hint: `IP addresses or CIDR ranges, one per line, ${LIMITS.allowListEntries} at most; empty for any. They cannot be changed afterwards.`,
    rows: 4,
    required: false,
  })}`;
  return postForm(visit, { action: `/accounts/${visit.account.id}/keys`, form, body, button: 'Create the key' });
}

async function create(deps: DashboardDeps, visit: AccountVisit): Promise<RouteReply> {
  const { account, form } = visit;
  const entries = (form.get('allow_list') ?? '').split(/[\s,]+/).filter((entry) => entry !== '');
  const input = { accountId: account.id, mode: modeOf(form), name: form.get('name') ?? '', allowList: entries };
  const { row, keyText } = await createKey(deps, { caller: actorOf(visit), input });
  const secret = { label: 'API key', value: keyText };
  return redirectTo(`/accounts/${account.id}/keys`, { text: `The key “${row.name}” is created.`, secret });
}

function modeOf(form: URLSearchParams): KeyMode {
  const mode = form.get('mode');
  if (mode === 'live' || mode === 'test') return mode;
  throw new MediaError('bad_request', 'Choose live or test.', { param: 'mode' });
}

async function revoke(deps: DashboardDeps, visit: AccountVisit): Promise<RouteReply> {
  const { account, params } = visit;
  const key = (await selectKeys(deps.database, account.id)).find(({ id }) => id === params['key']);
  if (key === undefined) throw notFound();
  await revokeKey(deps, { caller: actorOf(visit), input: { id: key.id } });
  return redirectTo(`/accounts/${account.id}/keys`, `The key “${key.name}” is revoked.`);
}
