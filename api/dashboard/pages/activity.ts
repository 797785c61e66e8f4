import { selectKeys } from '#api/accounts/key-rows.ts';
import type { DashboardDeps } from '#api/dashboard/dashboard-deps.ts';
import { activitySentence } from '#api/dashboard/activity-sentence.ts';
import { html } from '#api/dashboard/html.ts';
import { forMember, forOperator, type PageReply, type Route, type Visit } from '#api/dashboard/route.ts';
import { table } from '#api/dashboard/table.ts';
import { moment } from '#api/dashboard/format-values.ts';
import { MEDIACTL } from '#api/audit/audit.ts';
import { selectAudit, type AuditEntry } from '#api/audit/audit-rows.ts';

const PAGE_SIZE = 50;

/** Page of the audit log: changes with time, user and address. */
export const activityRoutes: readonly Route[] = [
  forMember('GET', '/accounts/:account/activity', { needs: 'read_only' }, (deps, visit) =>
    activityPage(deps, visit, visit.account.id),
  ),
  forOperator('GET', '/operator/activity', (deps, visit) => activityPage(deps, visit, null)),
];

async function activityPage(
  { database }: DashboardDeps,
  { query, path }: Visit,
  accountId: string | null,
): Promise<PageReply> {
  const before = /^\d{1,15}$/.test(query.get('before') ?? '') ? Number(query.get('before')) : null;
  const found = await selectAudit(database, { accountId, before, limit: PAGE_SIZE + 1 });
  const page = found.slice(0, PAGE_SIZE);
  const last = page.at(-1);
  const keys = accountId === null ? [] : await selectKeys(database, accountId);
  const names = new Map(keys.map(({ id, name }) => [id, name]));
  return {
    kind: 'page',
    title: 'Activity',
    body: html`<h1>Activity</h1>
      ${table({
        caption: 'Changes, newest first',
        columns: ['What', 'When', 'From', ...(accountId === null ? ['Account'] : [])],
        rows: page.map((entry) => [
          activitySentence(entry, names),
          moment(entry.at),
          originOf(entry),
          ...(accountId === null ? [entry.accountId ?? '–'] : []),
        ]),
        empty: 'No changes yet.',
      })}
      ${
        found.length > PAGE_SIZE &&
        last !== undefined &&
        html`<nav class="pager" aria-label="Pages">
          <a class="button" href="/dashboard${path}?before=${last.id}">Older</a>
        </nav>`
      }`,
  };
}

/** Returns where a change came from: an IP address, or the machine on which `mediactl` ran. */
function originOf({ address, email }: AuditEntry): string {
  if (address !== '') return address;
  return email === MEDIACTL.kind ? 'on this machine (mediactl)' : '–';
}
