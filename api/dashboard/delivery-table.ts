import { deliveryPill } from '#api/dashboard/delivery-pill.ts';
import { html, type Html } from '#api/dashboard/html.ts';
import { table } from '#api/dashboard/table.ts';
import { ago } from '#api/dashboard/format-values.ts';
import type { DeliveryRecord } from '#api/webhooks/delivery-record-rows.ts';

interface DeliveryTable {
  readonly caption: string;
  readonly deliveries: readonly DeliveryRecord[];
  readonly empty: string;
}

/** Returns a table of deliveries with their states; each links to its attempts. */
export function deliveryTable({ caption, deliveries, empty }: DeliveryTable): Html {
  return table({
    caption,
    columns: ['Event', 'State', 'Address', 'Last response', 'Created'],
    rows: deliveries.map((one) => [
      html`<a href="/dashboard/accounts/${one.accountId}/deliveries/${one.eventId}"><code>${one.eventId}</code></a>
        <a class="sub" href="/dashboard/accounts/${one.accountId}/jobs/${one.jobId}"><code>${one.jobId}</code></a>`,
      deliveryPill(one),
      html`<span class="address" title="${one.shownUrl}">${one.shownUrl}</span>`,
      html`${one.lastStatus ?? html`<span class="break">${one.lastError ?? '–'}</span>`}
      ${one.attempt > 0 && html`<span class="sub">attempt ${one.attempt}</span>`}`,
      ago(one.createdAt),
    ]),
    empty,
  });
}
