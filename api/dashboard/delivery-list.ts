import type { DashboardDeps } from '#api/dashboard/dashboard-deps.ts';
import { deliveryTable } from '#api/dashboard/delivery-table.ts';
import { html, type Html } from '#api/dashboard/html.ts';
import type { AccountVisit } from '#api/dashboard/route.ts';
import { selectDeliveries } from '#api/webhooks/delivery-record-rows.ts';
import { DELIVERY_STATES } from '#api/webhooks/delivery-state.ts';

const PAGE_SIZE = 25;

interface DeliveryList {
  /** Path of the page below the dashboard. */
  readonly path: string;
  /** Absent: deliveries of the account to any address. */
  readonly endpointId?: string;
  readonly empty: string;
}

/** Returns the deliveries of an account or an endpoint with links to their states and to older ones. */
export async function deliveryList(
  { database }: Pick<DashboardDeps, 'database'>,
  { account, query }: AccountVisit,
  { path, empty, ...filter }: DeliveryList,
): Promise<Html> {
  const state = DELIVERY_STATES.find((one) => one === query.get('state'));
  const before = query.get('before');
  const found = await selectDeliveries(database, {
    accountId: account.id,
    ...filter,
    ...(state !== undefined && { state }),
    ...(before !== null && { before }),
    limit: PAGE_SIZE + 1,
  });
  const shown = found.slice(0, PAGE_SIZE);
  const link = (more: Readonly<Record<string, string>>): string => {
    const text = new URLSearchParams(more).toString();
    return `/dashboard${path}${text === '' ? '' : `?${text}`}#deliveries`;
  };
  const tab = (one: string | undefined, label: string): Html =>
    html`<a href="${link(one === undefined ? {} : { state: one })}" ${one === state && html`aria-current="true"`}
      >${label}</a
    >`;
  const last = shown.at(-1);
  const states = state === undefined ? {} : { state };
  return html`<h2 id="deliveries">Deliveries</h2>
    <nav class="tabs" aria-label="State">${tab(undefined, 'all')} ${DELIVERY_STATES.map((one) => tab(one, one))}</nav>
    ${deliveryTable({
      caption: 'Deliveries, newest first',
      deliveries: shown,
      empty: state === undefined && before === null ? empty : 'No matching delivery.',
    })}
    <nav class="pager" aria-label="Pages">
      ${before !== null && html`<a class="button" href="${link(states)}">Newest</a>`}
      ${
        found.length > PAGE_SIZE &&
        last !== undefined &&
        html`<a class="button" href="${link({ ...states, before: last.eventId })}">Older</a>`
      }
    </nav>`;
}
