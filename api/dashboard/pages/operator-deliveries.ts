import { audit } from '#api/dashboard/audit.ts';
import type { DashboardDeps } from '#api/dashboard/dashboard-deps.ts';
import { postForm } from '#api/dashboard/form.ts';
import { html } from '#api/dashboard/html.ts';
import { forOperator, type PageReply, type Reply, type Route, type UserVisit } from '#api/dashboard/route.ts';
import { table } from '#api/dashboard/table.ts';
import { moment } from '#api/dashboard/text.ts';
import { selectDeliveries } from '#api/webhooks/delivery-record-rows.ts';
import { withoutQuery } from '#api/webhooks/delivery-state.ts';
import { resendDelivery } from '#api/webhooks/resend-delivery.ts';

const MOST = 100;

/** Webhook deliveries that were given up, of every account. */
export const operatorDeliveryRoutes: readonly Route[] = [
  forOperator('GET', '/operator/deliveries', deadPage),
  forOperator('POST', '/operator/deliveries/:event/resend', resend),
];

async function deadPage({ database }: DashboardDeps, visit: UserVisit): Promise<PageReply> {
  const dead = await selectDeliveries(database, { accountId: null, onlyDead: true, limit: MOST });
  return {
    kind: 'page',
    title: 'Dead deliveries',
    body: html`<h1>Dead deliveries</h1>
      <p>Webhook events that were given up after eight attempts, the newest ${MOST} of 30 days.</p>
      ${table({
        caption: 'Dead deliveries, the newest first',
        columns: ['Event', 'Account', 'Address', 'Last answer', 'Given up', 'Again'],
        rows: dead.map((one) => [
          html`<a href="/dashboard/accounts/${one.accountId}/deliveries/${one.eventId}"
            ><code>${one.eventId}</code></a
          >`,
          html`<a href="/dashboard/operator/accounts/${one.accountId}"><code>${one.accountId}</code></a>`,
          html`<span class="break">${withoutQuery(one.url)}</span>`,
          one.lastStatus ?? one.lastError ?? '–',
          moment(one.doneAt),
          postForm(visit, {
            action: `/operator/deliveries/${one.eventId}/resend`,
            body: null,
            button: 'Send again',
          }),
        ]),
        empty: 'No delivery was given up.',
      })}`,
  };
}

async function resend(deps: DashboardDeps, visit: UserVisit): Promise<Reply> {
  const { eventId, accountId } = await resendDelivery(deps, visit.params['event'] ?? '');
  await audit(deps, visit, { action: 'webhook.resend', target: eventId, accountId });
  return { kind: 'redirect', to: '/operator/deliveries', notice: { text: `${eventId} is queued again.` } };
}
