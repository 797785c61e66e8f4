import { actorOf } from '#api/dashboard/caller-of.ts';
import type { DashboardDeps } from '#api/dashboard/dashboard-deps.ts';
import { deliveryPill } from '#api/dashboard/delivery-pill.ts';
import { postForm } from '#api/dashboard/form.ts';
import { html, type Html } from '#api/dashboard/html.ts';
import { notFound } from '#api/dashboard/not-found.ts';
import { redirectTo } from '#api/dashboard/redirect-to.ts';
import { forMember, type AccountVisit, type PageReply, type Route, type RouteReply } from '#api/dashboard/route.ts';
import { facts, table } from '#api/dashboard/table.ts';
import { bytes, moment, number } from '#api/dashboard/format-values.ts';
import { isAtLeast } from '#api/users/user.ts';
import { findDelivery, findDeliveryBody, type DeliveryRecord } from '#api/webhooks/delivery-record-rows.ts';
import { resendDelivery } from '#api/webhooks/resend-delivery.ts';
import { sendDeliveryNow } from '#api/webhooks/send-again.ts';
import { selectAttempts } from '#api/webhooks/webhook-attempt-rows.ts';

const PATH = '/accounts/:account/deliveries/:event';
const MAX_SHOWN_BYTES = 16_384;

/** Page of a webhook delivery with its body and attempts, and the actions that send it again or at once. */
export const deliveryRoutes: readonly Route[] = [
  forMember('GET', PATH, { needs: 'read_only' }, deliveryPage),
  forMember('POST', `${PATH}/resend`, { needs: 'developer' }, resend),
  forMember('POST', `${PATH}/send-now`, { needs: 'developer' }, sendNow),
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
    body: html`<p class="parent"><a href="${base}/webhooks">← Webhooks</a></p>
      <h1>Delivery</h1>
      ${facts([
        ['Event', html`<code>${delivery.eventId}</code>`],
        ['State', deliveryPill(delivery)],
        ['Address', html`<span class="break">${delivery.shownUrl}</span>`],
        ['Job', html`<a href="${base}/jobs/${delivery.jobId}"><code>${delivery.jobId}</code></a>`],
        ['Created', moment(delivery.createdAt)],
        ['Next attempt', delivery.doneAt === null ? moment(delivery.nextAt) : 'none'],
      ])}
      ${isAtLeast(visit.role, 'developer') && sendForm(visit, delivery)}
      <h2>Attempts</h2>
      ${table({
        caption: 'Attempts, oldest first',
        columns: ['#Attempt', 'Outcome', 'Sent', "Receiver's response", '#Took'],
        rows: attempts.map(({ at, status, error, durationMs }, index) => [
          index + 1,
          html`<span class="status ${error === null ? 'delivered' : 'failed'}"
            >${error === null ? 'delivered' : 'failed'}</span
          >`,
          moment(at),
          error === null ? `status ${status ?? ''}` : error,
          `${number(durationMs)} ms`,
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
  const text = indented(start.toString('utf8'));
  if (isMember) return text;
  return text.replaceAll(/("download_url"\s*:\s*)"(?:[^"\\]|\\.)*(?:"|$)/g, '$1"… shown to members only"');
}

/** Returns JSON with line breaks; a text that is cut off as it is. */
function indented(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

async function findOwn({ database }: DashboardDeps, { account, params }: AccountVisit): Promise<DeliveryRecord> {
  const delivery = await findDelivery(database, params['event'] ?? '');
  if (delivery === null || delivery.accountId !== account.id) throw notFound();
  return delivery;
}

/** Returns the form that sends an ended event again, or a queued one without waiting. */
function sendForm(visit: AccountVisit, { eventId, doneAt, attempt }: DeliveryRecord): Html | null {
  const path = `/accounts/${visit.account.id}/deliveries/${eventId}`;
  if (doneAt !== null) {
    const body = html`<p class="hint">Sends the same event and body, newly signed, in up to eight attempts.</p>`;
    return postForm(visit, { action: `${path}/resend`, body, button: 'Send it again' });
  }
  if (attempt === 0) return null;
  const body = html`<p class="hint">Makes attempt ${attempt + 1} of eight at once.</p>`;
  return postForm(visit, { action: `${path}/send-now`, body, button: 'Send now' });
}

async function sendNow(deps: DashboardDeps, visit: AccountVisit): Promise<RouteReply> {
  const { eventId } = await findOwn(deps, visit);
  await sendDeliveryNow(deps, { caller: actorOf(visit), input: { eventId } });
  return redirectTo(`/accounts/${visit.account.id}/deliveries/${eventId}`, 'The next attempt is being made.');
}

async function resend(deps: DashboardDeps, visit: AccountVisit): Promise<RouteReply> {
  const { eventId } = await findOwn(deps, visit);
  await resendDelivery(deps, { caller: actorOf(visit), input: { eventId } });
  return redirectTo(`/accounts/${visit.account.id}/deliveries/${eventId}`, 'The event is queued again.');
}
