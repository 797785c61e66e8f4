import { html, type Html } from '#api/dashboard/html.ts';
import { table } from '#api/dashboard/table.ts';
import { moment } from '#api/dashboard/text.ts';
import type { DeliveryRecord } from '#api/webhooks/delivery-record-rows.ts';
import { deliveryState, withoutQuery } from '#api/webhooks/delivery-state.ts';

interface Listed {
  readonly caption: string;
  readonly deliveries: readonly DeliveryRecord[];
  readonly empty: string;
}

/** Deliveries with what became of them; each leads to its attempts. */
export function deliveryTable({ caption, deliveries, empty }: Listed): Html {
  return table({
    caption,
    columns: ['Event', 'State', 'Address', 'Job', '#Attempts', 'Last answer', 'Created', 'Next attempt'],
    rows: deliveries.map((one) => [
      html`<a href="/dashboard/accounts/${one.accountId}/deliveries/${one.eventId}"><code>${one.eventId}</code></a>`,
      html`<span class="status ${deliveryState(one)}">${deliveryState(one)}</span>`,
      html`<span class="break">${withoutQuery(one.url)}</span>`,
      html`<a href="/dashboard/accounts/${one.accountId}/jobs/${one.jobId}"><code>${one.jobId}</code></a>`,
      one.attempt,
      one.lastStatus ?? one.lastError ?? '–',
      moment(one.createdAt),
      one.doneAt === null ? moment(one.nextAt) : '–',
    ]),
    empty,
  });
}
