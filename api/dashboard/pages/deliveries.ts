import { actorOf } from '#api/dashboard/caller-of.ts';
import type { DashboardDeps } from '#api/dashboard/dashboard-deps.ts';
import { postForm } from '#api/dashboard/form.ts';
import { html, type Html } from '#api/dashboard/html.ts';
import { notFound } from '#api/dashboard/not-found.ts';
import { redirectTo } from '#api/dashboard/redirect-to.ts';
import { forMember, type AccountVisit, type PageReply, type Route, type RouteReply } from '#api/dashboard/route.ts';
import { facts, table } from '#api/dashboard/table.ts';
import { bytes, moment } from '#api/dashboard/format-values.ts';
import { isAtLeast } from '#api/users/user.ts';
import { findDelivery, findDeliveryBody, type DeliveryRecord } from '#api/webhooks/delivery-record-rows.ts';
import { deliveryState } from '#api/webhooks/delivery-state.ts';
import { resendDelivery } from '#api/webhooks/resend-delivery.ts';
import { selectAttempts } from '#api/webhooks/webhook-attempt-rows.ts';

const PATH = '/accounts/:account/deliveries/:event';
const MAX_SHOWN_BYTES = 2048;

/** Page of a webhook delivery with its body and attempts, and the action that sends it resendForm. */
export const deliveryRoutes: readonly Route[] = [
  forMember('GET', PATH, { needs: 'read_only' }, deliveryPage),
  forMember('POST', `${PATH}/resend`, { needs: 'developer' }, resend),
];

async function deliveryPage(deps: DashboardDeps, visit: AccountVisit): Promise<PageReply> {
  const { database } = deps;
  const delivery = await findOwn(deps, visit);
  const attempts = await selectAttempts(database, delivery.eventId);
  const body = await findDeliveryBody(database, delivery.eventId, MAX_SHOWN_BYTES);
  const base = `/dashboard/accounts/${visit.account.id}`;
  return {
    kind: 'page',
    title: `Delivery ${delivery.eventId}`,
    body: html`<p><a href="${base}/webhooks">Webhooks</a></p>
      <h1>Delivery</h1>
      ${facts([
        ['Event', html`<code>${delivery.eventId}</code>`],
        ['State', html`<span class="status ${deliveryState(delivery)}">${deliveryState(delivery)}</span>`],
        ['Address', html`<span class="break">${delivery.shownUrl}</span>`],
        ['Job', html`<a href="${base}/jobs/${delivery.jobId}"><code>${delivery.jobId}</code></a>`],
        ['Created', moment(delivery.createdAt)],
        ['Next attempt', delivery.doneAt === null ? moment(delivery.nextAt) : 'none'],
      ])}
      ${isAtLeast(visit.role, 'developer') && delivery.doneAt !== null && resendForm(visit, delivery)}
      <h2>Attempts</h2>
      ${table({
        caption: 'Attempts, oldest first',
        columns: ['Sent', 'Response', 'Error', '#Took'],
        rows: attempts.map(({ at, status, error, durationMs }) => [
          moment(at),
          status ?? 'none',
          error ?? '–',
          `${durationMs} ms`,
        ]),
        empty: 'No attempt has ended yet. The first one is made when the job ends.',
      })}
      <h2>What is sent</h2>
      ${
        body !== null &&
        html`<p>${bytes(body.size)}${body.size > MAX_SHOWN_BYTES && `, the first ${bytes(MAX_SHOWN_BYTES)} of them`}</p>
          <pre tabindex="0">${sentText(visit, body.start)}</pre>`
      }`,
  };
}

/** Returns the start of the body. For users who are not members it lacks the download link, which opens the file. */
function sentText({ isMember }: AccountVisit, start: Buffer): string {
  const text = start.toString('utf8');
  if (isMember) return text;
  return text.replaceAll(/("download_url"\s*:\s*)"(?:[^"\\]|\\.)*(?:"|$)/g, '$1"… shown to members only"');
}

async function findOwn({ database }: DashboardDeps, { account, params }: AccountVisit): Promise<DeliveryRecord> {
  const delivery = await findDelivery(database, params['event'] ?? '');
  if (delivery === null || delivery.accountId !== account.id) throw notFound();
  return delivery;
}

function resendForm(visit: AccountVisit, { eventId }: DeliveryRecord): Html {
  const action = `/accounts/${visit.account.id}/deliveries/${eventId}/resend`;
  const body = html`<p class="hint">Sends the same event and body, newly signed, in up to eight attempts.</p>`;
  return postForm(visit, { action, body, button: 'Send it again' });
}

async function resend(deps: DashboardDeps, visit: AccountVisit): Promise<RouteReply> {
  const { eventId } = await findOwn(deps, visit);
  await resendDelivery(deps, { caller: actorOf(visit), input: { eventId } });
  return redirectTo(`/accounts/${visit.account.id}/deliveries/${eventId}`, 'The event is queued again.');
}
