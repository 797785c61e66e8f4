import { audit } from '#api/dashboard/audit.ts';
import { accountRequest } from '#api/dashboard/account-request.ts';
import type { DashboardDeps } from '#api/dashboard/dashboard-deps.ts';
import { deliveryTable } from '#api/dashboard/delivery-table.ts';
import { confirmed, postForm } from '#api/dashboard/form.ts';
import { html, type Html } from '#api/dashboard/html.ts';
import { notFound } from '#api/dashboard/not-found.ts';
import {
  forMember,
  type AccountVisit,
  type Notice,
  type PageReply,
  type Reply,
  type Route,
} from '#api/dashboard/route.ts';
import { facts } from '#api/dashboard/table.ts';
import { moment } from '#api/dashboard/text.ts';
import { isAtLeast } from '#api/users/user.ts';
import {
  changeWebhookEndpoint,
  removeWebhookEndpoint,
  rotateWebhookSecret,
} from '#api/webhooks/change-webhook-endpoint.ts';
import { selectDeliveries } from '#api/webhooks/delivery-record-rows.ts';
import { requestPing } from '#api/webhooks/request-ping.ts';
import { findWebhookEndpoint, type WebhookEndpoint } from '#api/webhooks/webhook-endpoint-rows.ts';

const MOST_DELIVERIES = 50;
const PATH = '/accounts/:account/webhooks/:id';

/** One webhook endpoint: paused, tested, its secret replaced, deleted. */
export const webhookPageRoutes: readonly Route[] = [
  forMember('GET', PATH, { needs: 'read_only' }, endpointPage),
  forMember('POST', `${PATH}/pause`, { needs: 'developer', whileSuspended: true }, (deps, visit) =>
    switchTo(deps, visit, false),
  ),
  forMember('POST', `${PATH}/resume`, { needs: 'developer' }, (deps, visit) => switchTo(deps, visit, true)),
  forMember('POST', `${PATH}/test`, { needs: 'developer' }, test),
  forMember('POST', `${PATH}/rotate`, { needs: 'developer' }, rotate),
  forMember('POST', `${PATH}/delete`, { needs: 'developer', whileSuspended: true }, remove),
];

async function endpointPage({ database }: DashboardDeps, visit: AccountVisit): Promise<PageReply> {
  const accountId = visit.account.id;
  const endpoint = await findWebhookEndpoint(database, { accountId, id: visit.params['id'] ?? '' });
  if (endpoint === null) throw notFound();
  const filter = { accountId, endpointId: endpoint.id, onlyDead: false, limit: MOST_DELIVERIES };
  return {
    kind: 'page',
    title: `Webhook – ${visit.account.name}`,
    body: html`<p><a href="/dashboard/accounts/${accountId}/webhooks">Webhooks</a></p>
      <h1 class="break">${endpoint.url}</h1>
      ${facts([
        ['Endpoint', html`<code>${endpoint.id}</code>`],
        ['State', endpoint.enabled ? 'on' : 'paused: jobs that end meanwhile send it nothing, then or later'],
        ['Created', moment(endpoint.createdAt)],
      ])}
      ${isAtLeast(visit.role, 'developer') && actions(visit, endpoint)}
      <h2>Deliveries</h2>
      ${deliveryTable({
        caption: `The newest ${MOST_DELIVERIES} deliveries to this endpoint`,
        deliveries: await selectDeliveries(database, filter),
        empty: 'Nothing was delivered yet. A job that ends sends an event here; a test is not listed.',
      })}`,
  };
}

function actions(visit: AccountVisit, { id, enabled }: WebhookEndpoint): Html {
  const action = (name: string): string => `/accounts/${visit.account.id}/webhooks/${id}/${name}`;
  return html`<div class="actions">
    ${postForm(visit, { action: action('test'), body: null, button: 'Send a test' })}
    ${postForm(visit, { action: action(enabled ? 'pause' : 'resume'), body: null, button: enabled ? 'Pause' : 'Resume' })}
    ${confirmed(visit, {
      summary: 'Replace the secret …',
      action: action('rotate'),
      body: html`<p>
        Events of jobs that end from then on are signed with the new secret only. Deliveries that are queued keep the
        old one.
      </p>`,
      button: 'Make a new secret',
      danger: true,
    })}
    ${confirmed(visit, {
      summary: 'Delete the endpoint …',
      action: action('delete'),
      body: html`<p>New events send it nothing; queued deliveries still run. This cannot be undone.</p>`,
      button: 'Delete the endpoint',
      danger: true,
    })}
  </div>`;
}

function requestFor(visit: AccountVisit, json?: object) {
  const params = { id: visit.params['id'] ?? '' };
  return accountRequest(visit, { livemode: true, params, ...(json === undefined ? {} : { json }) });
}

async function switchTo(deps: DashboardDeps, visit: AccountVisit, enabled: boolean): Promise<Reply> {
  await changeWebhookEndpoint(deps, requestFor(visit, { enabled }));
  await note(deps, visit, enabled ? 'webhook.resume' : 'webhook.pause');
  return back(visit, { text: enabled ? 'The endpoint is on again.' : 'The endpoint is paused.' });
}

async function test(deps: DashboardDeps, visit: AccountVisit): Promise<Reply> {
  const { body } = await requestPing(deps, requestFor(visit));
  const { delivered, status, duration_ms: ms } = body as { delivered: boolean; status: number; duration_ms: number };
  await note(deps, visit, 'webhook.test');
  const answer = status === 0 ? 'No answer came' : `It answered ${status}`;
  const text = `${delivered ? 'The test was delivered' : 'The test failed'}: ${answer} after ${ms} ms.`;
  return back(visit, { text });
}

async function rotate(deps: DashboardDeps, visit: AccountVisit): Promise<Reply> {
  const { body } = await rotateWebhookSecret(deps, requestFor(visit));
  await note(deps, visit, 'webhook.rotate');
  const secret = { label: 'Signing secret', value: (body as { secret: string }).secret };
  return back(visit, { text: 'The endpoint has a new secret.', secret });
}

async function remove(deps: DashboardDeps, visit: AccountVisit): Promise<Reply> {
  await removeWebhookEndpoint(deps, requestFor(visit));
  await note(deps, visit, 'webhook.delete');
  const to = `/accounts/${visit.account.id}/webhooks`;
  return { kind: 'redirect', to, notice: { text: 'The endpoint is deleted.' } };
}

async function note(deps: DashboardDeps, visit: AccountVisit, action: string): Promise<void> {
  await audit(deps, visit, { action, target: visit.params['id'] ?? '', accountId: visit.account.id });
}

function back({ account, params }: AccountVisit, notice: Notice): Reply {
  return { kind: 'redirect', to: `/accounts/${account.id}/webhooks/${params['id'] ?? ''}`, notice };
}
