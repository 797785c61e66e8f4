import { html, type Html } from '#api/dashboard/html.ts';
import { table } from '#api/dashboard/table.ts';
import { moment } from '#api/dashboard/format-values.ts';
import type { DeliveryRecord } from '#api/webhooks/delivery-record-rows.ts';
import { deliveryState } from '#api/webhooks/delivery-state.ts';

interface DeliveryTable {
  readonly caption: string;
  readonly deliveries: readonly DeliveryRecord[];
  readonly empty: string;
}

/** Returns a table of deliveries with their states; each links to its attempts. */
export function deliveryTable({ caption, deliveries, empty }: DeliveryTable): Html {
  return table({
    caption,
    columns: ['Event', 'State', 'Address', 'Job', '#Attempts', 'Last response', 'Created', 'Next attempt'],
    rows: deliveries.map((one) => [
      html`<a href="/dashboard/accounts/${one.accountId}/deliveries/${one.eventId}"><code>${one.eventId}</code></a>`,
      html`<span class="status ${deliveryState(one)}">${deliveryState(one)}</span>`,
      html`<span class="break">${one.shownUrl}</span>`,
      html`<a href="/dashboard/accounts/${one.accountId}/jobs/${one.jobId}"><code>${one.jobId}</code></a>`,
      one.attempt,
      one.lastStatus ?? one.lastError ?? '–',
      moment(one.createdAt),
      one.doneAt === null ? moment(one.nextAt) : '–',
    ]),
    empty,
  });
}
