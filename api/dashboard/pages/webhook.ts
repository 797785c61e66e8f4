import { actorOf, callerOf } from '#api/dashboard/caller-of.ts';
import type { DashboardDeps } from '#api/dashboard/dashboard-deps.ts';
import { deliveryList } from '#api/dashboard/delivery-list.ts';
import { HEALTH_DAYS, healthFigures } from '#api/dashboard/endpoint-health.ts';
import { confirmForm, postForm } from '#api/dashboard/form.ts';
import { html, type Html } from '#api/dashboard/html.ts';
import { notFound } from '#api/dashboard/not-found.ts';
import { redirectTo } from '#api/dashboard/redirect-to.ts';
import { forMember, type AccountVisit, type PageReply, type Route, type RouteReply } from '#api/dashboard/route.ts';
import { ago, counted } from '#api/dashboard/format-values.ts';
import { isAtLeast } from '#api/users/user.ts';
import {
  changeWebhookEndpoint,
  deleteWebhookEndpoint,
  rotateWebhookSecret,
} from '#api/webhooks/change-webhook-endpoint.ts';
import { selectEndpointHealth, type EndpointHealth } from '#api/webhooks/endpoint-health-rows.ts';
import { requestPing } from '#api/webhooks/request-ping.ts';
import { MAX_SENT_AGAIN, resendDropped } from '#api/webhooks/send-again.ts';
import { openUrl, urlContext } from '#api/webhooks/stored-url.ts';
import { findWebhookEndpoint, type WebhookEndpoint } from '#api/webhooks/webhook-endpoint-rows.ts';

const PATH = '/accounts/:account/webhooks/:id';

/** Page of a webhook endpoint, and the actions that pause, test and delete it or replace its secret. */
export const webhookPageRoutes: readonly Route[] = [
  forMember('GET', PATH, { needs: 'read_only' }, endpointPage),
  forMember('POST', `${PATH}/pause`, { needs: 'developer', whileSuspended: true }, (deps, visit) =>
    setEnabled(deps, visit, false),
  ),
  forMember('POST', `${PATH}/resume`, { needs: 'developer' }, (deps, visit) => setEnabled(deps, visit, true)),
  forMember('POST', `${PATH}/test`, { needs: 'developer' }, test),
  forMember('POST', `${PATH}/resend`, { needs: 'developer' }, resendAll),
  forMember('POST', `${PATH}/rotate`, { needs: 'developer' }, rotate),
  forMember('POST', `${PATH}/delete`, { needs: 'developer', whileSuspended: true }, remove),
];

async function endpointPage(deps: DashboardDeps, visit: AccountVisit): Promise<PageReply> {
  const { database, secretBox, clock } = deps;
  const accountId = visit.account.id;
  const endpoint = await findWebhookEndpoint(database, { accountId, id: visit.params['id'] ?? '' });
  if (endpoint === null) throw notFound();
  const url = visit.isMember ? openUrl(secretBox, endpoint, urlContext.endpoint(endpoint.id)) : endpoint.shownUrl;
  const since = new Date(clock.now().getTime() - HEALTH_DAYS * 24 * 3600 * 1000);
  const all = await selectEndpointHealth(database, { accountId, since });
  const health = all.find(({ endpointId }) => endpointId === endpoint.id);
  return {
    kind: 'page',
    title: `Webhook – ${visit.account.name}`,
    body: html`<p class="parent"><a href="/dashboard/accounts/${accountId}/webhooks">← Webhooks</a></p>
      <h1 class="break">${url}</h1>
      ${identity(endpoint)} ${healthFigures(health)}
      ${isAtLeast(visit.role, 'developer') && actions(visit, endpoint, health)}
      ${await deliveryList(deps, visit, {
        path: pathOf(visit),
        endpointId: endpoint.id,
        empty: 'Nothing was delivered yet. A job that ends sends an event here; a test is not listed.',
      })}`,
  };
}

function identity({ id, enabled, createdAt }: WebhookEndpoint): Html {
  return html`<p class="identity">
      <span class="status ${enabled ? 'succeeded' : 'canceled'}">${enabled ? 'on' : 'paused'}</span>
      <code>${id}</code> created ${ago(createdAt)}
    </p>
    ${!enabled && html`<p class="hint">Events of jobs that end while it is paused are never sent to it.</p>`}`;
}

function actions(visit: AccountVisit, { enabled }: WebhookEndpoint, health: EndpointHealth | undefined): Html {
  const action = (name: string): string => `${pathOf(visit)}/${name}`;
  return html`<div class="actions">
    ${postForm(visit, { action: action('test'), button: 'Send a test' })}
    ${
      health !== undefined &&
      health.dropped > 0 &&
      confirmForm(visit, {
        summary: 'Send all again …',
        action: action('resend'),
        body: html`<p>
          Queues the dropped events of this endpoint again, the oldest ${MAX_SENT_AGAIN}, each with eight attempts.
        </p>`,
        button: 'Send all again',
      })
    }
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
  return redirectTo(pathOf(visit), {
    text: `${outcome}: ${shownStatus} after ${durationMs} ms.`,
    tone: delivered ? 'good' : 'bad',
  });
}

async function resendAll(deps: DashboardDeps, visit: AccountVisit): Promise<RouteReply> {
  const input = { accountId: visit.account.id, endpointId: idOf(visit) };
  const count = await resendDropped(deps, { caller: actorOf(visit), input });
  return redirectTo(pathOf(visit), count === 0 ? 'No event was dropped.' : `${counted(count, 'event')} queued again.`);
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
