import { callerOf } from '#api/dashboard/caller-of.ts';
import type { DashboardDeps } from '#api/dashboard/dashboard-deps.ts';
import { deliveryTable } from '#api/dashboard/delivery-table.ts';
import { confirmForm, postForm } from '#api/dashboard/form.ts';
import { html, type Html } from '#api/dashboard/html.ts';
import { notFound } from '#api/dashboard/not-found.ts';
import { redirectTo } from '#api/dashboard/redirect-to.ts';
import { forMember, type AccountVisit, type PageReply, type Route, type RouteReply } from '#api/dashboard/route.ts';
import { facts } from '#api/dashboard/table.ts';
import { moment } from '#api/dashboard/format-values.ts';
import { isAtLeast } from '#api/users/user.ts';
import {
  changeWebhookEndpoint,
  deleteWebhookEndpoint,
  rotateWebhookSecret,
} from '#api/webhooks/change-webhook-endpoint.ts';
import { selectDeliveries } from '#api/webhooks/delivery-record-rows.ts';
import { requestPing } from '#api/webhooks/request-ping.ts';
import { openUrl, urlContext } from '#api/webhooks/stored-url.ts';
import { findWebhookEndpoint, type WebhookEndpoint } from '#api/webhooks/webhook-endpoint-rows.ts';

const MAX_DELIVERIES = 50;
const PATH = '/accounts/:account/webhooks/:id';

/** Page of a webhook endpoint, and the actions that pause, test and delete it or replace its secret. */
export const webhookPageRoutes: readonly Route[] = [
  forMember('GET', PATH, { needs: 'read_only' }, endpointPage),
  forMember('POST', `${PATH}/pause`, { needs: 'developer', whileSuspended: true }, (deps, visit) =>
    setEnabled(deps, visit, false),
  ),
  forMember('POST', `${PATH}/resume`, { needs: 'developer' }, (deps, visit) => setEnabled(deps, visit, true)),
  forMember('POST', `${PATH}/test`, { needs: 'developer' }, test),
  forMember('POST', `${PATH}/rotate`, { needs: 'developer' }, rotate),
  forMember('POST', `${PATH}/delete`, { needs: 'developer', whileSuspended: true }, remove),
];

async function endpointPage({ database, secretBox }: DashboardDeps, visit: AccountVisit): Promise<PageReply> {
  const accountId = visit.account.id;
  const endpoint = await findWebhookEndpoint(database, { accountId, id: visit.params['id'] ?? '' });
  if (endpoint === null) throw notFound();
  const url = visit.isMember ? openUrl(secretBox, endpoint, urlContext.endpoint(endpoint.id)) : endpoint.shownUrl;
  const filter = { accountId, endpointId: endpoint.id, onlyDead: false, limit: MAX_DELIVERIES };
  return {
    kind: 'page',
    title: `Webhook – ${visit.account.name}`,
    body: html`<p><a href="/dashboard/accounts/${accountId}/webhooks">Webhooks</a></p>
      <h1 class="break">${url}</h1>
      ${facts([
        ['Endpoint', html`<code>${endpoint.id}</code>`],
        ['State', endpoint.enabled ? 'on' : 'paused: events of jobs that end meanwhile are never sent to it'],
        ['Created', moment(endpoint.createdAt)],
      ])}
      ${isAtLeast(visit.role, 'developer') && actions(visit, endpoint)}
      <h2>Deliveries</h2>
      ${deliveryTable({
        caption: `The newest ${MAX_DELIVERIES} deliveries to this endpoint`,
        deliveries: await selectDeliveries(database, filter),
        empty: 'Nothing was delivered yet. A job that ends sends an event here; a test is not listed.',
      })}`,
  };
}

function actions(visit: AccountVisit, { enabled }: WebhookEndpoint): Html {
  const action = (name: string): string => `${pathOf(visit)}/${name}`;
  return html`<div class="actions">
    ${postForm(visit, { action: action('test'), button: 'Send a test' })}
    ${postForm(visit, { action: action(enabled ? 'pause' : 'resume'), button: enabled ? 'Pause' : 'Resume' })}
    ${confirmForm(visit, {
      summary: 'Replace the secret …',
      action: action('rotate'),
      body: html`<p>
        Events of jobs that end from then on are signed with the new secret only. Deliveries that are queued keep the
        old one.
      </p>`,
      button: 'Rotate the secret',
    })}
    ${confirmForm(visit, {
      summary: 'Delete the endpoint …',
      action: action('delete'),
      body: html`<p>New events are not sent to it; queued deliveries continue. This cannot be undone.</p>`,
      button: 'Delete the endpoint',
    })}
  </div>`;
}

function idOf({ params }: AccountVisit): string {
  return params['id'] ?? '';
}

async function setEnabled(deps: DashboardDeps, visit: AccountVisit, enabled: boolean): Promise<RouteReply> {
  await changeWebhookEndpoint(deps, { caller: callerOf(visit), input: { id: idOf(visit), enabled } });
  return redirectTo(pathOf(visit), enabled ? 'The endpoint is enabled again.' : 'The endpoint is paused.');
}

async function test(deps: DashboardDeps, visit: AccountVisit): Promise<RouteReply> {
  const input = { id: idOf(visit), signal: visit.signal };
  const { delivered, status, durationMs } = await requestPing(deps, { caller: callerOf(visit), input });
  const shownStatus = status === 0 ? 'no response' : `status ${status}`;
  const outcome = delivered ? 'The test was delivered' : 'The test failed';
  return redirectTo(pathOf(visit), `${outcome}: ${shownStatus} after ${durationMs} ms.`);
}

async function rotate(deps: DashboardDeps, visit: AccountVisit): Promise<RouteReply> {
  const { secret } = await rotateWebhookSecret(deps, { caller: callerOf(visit), input: { id: idOf(visit) } });
  const shown = { label: 'Signing secret', value: secret };
  return redirectTo(pathOf(visit), { text: 'The endpoint has a new secret.', secret: shown });
}

async function remove(deps: DashboardDeps, visit: AccountVisit): Promise<RouteReply> {
  await deleteWebhookEndpoint(deps, { caller: callerOf(visit), input: { id: idOf(visit) } });
  return redirectTo(`/accounts/${visit.account.id}/webhooks`, 'The endpoint is deleted.');
}

function pathOf(visit: AccountVisit): string {
  return `/accounts/${visit.account.id}/webhooks/${idOf(visit)}`;
}
