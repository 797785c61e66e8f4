import { actorOf } from '#api/dashboard/caller-of.ts';
import type { DashboardDeps } from '#api/dashboard/dashboard-deps.ts';
import { postForm } from '#api/dashboard/form.ts';
import { html } from '#api/dashboard/html.ts';
import { redirectTo } from '#api/dashboard/redirect-to.ts';
import { forOperator, type PageReply, type Route, type RouteReply, type UserVisit } from '#api/dashboard/route.ts';
import { table } from '#api/dashboard/table.ts';
import { moment } from '#api/dashboard/format-values.ts';
import { selectDeliveries } from '#api/webhooks/delivery-record-rows.ts';
import { resendDelivery } from '#api/webhooks/resend-delivery.ts';

const MAX_DELIVERIES = 100;

/** Page with the dropped webhook deliveries of all accounts, and the action that sends one again. */
export const operatorDeliveryRoutes: readonly Route[] = [
  forOperator('GET', '/operator/deliveries', droppedPage),
  forOperator('POST', '/operator/deliveries/:event/resend', resend),
];

async function droppedPage({ database }: DashboardDeps, visit: UserVisit): Promise<PageReply> {
  const dropped = await selectDeliveries(database, { accountId: null, state: 'dropped', limit: MAX_DELIVERIES });
  return {
    kind: 'page',
    title: 'Dropped deliveries',
    body: html`<h1>Dropped deliveries</h1>
      <p>Webhook events whose eight attempts failed, the newest ${MAX_DELIVERIES} of 30 days.</p>
      ${table({
        caption: 'Dropped deliveries, newest first',
        columns: ['Event', 'Account', 'Address', 'Last response', 'Dropped', 'Again'],
        rows: dropped.map((one) => [
          html`<a href="/dashboard/accounts/${one.accountId}/deliveries/${one.eventId}"
            ><code>${one.eventId}</code></a
          >`,
          html`<a href="/dashboard/operator/accounts/${one.accountId}"><code>${one.accountId}</code></a>`,
          html`<span class="break">${one.shownUrl}</span>`,
          one.lastStatus ?? one.lastError ?? '–',
          moment(one.doneAt),
          postForm(visit, { action: `/operator/deliveries/${one.eventId}/resend`, button: 'Send again' }),
        ]),
        empty: 'No delivery was dropped.',
      })}`,
  };
}

async function resend(deps: DashboardDeps, visit: UserVisit): Promise<RouteReply> {
  const input = { eventId: visit.params['event'] ?? '' };
  const { eventId } = await resendDelivery(deps, { caller: actorOf(visit), input });
  return redirectTo('/operator/deliveries', `${eventId} is queued again.`);
}
