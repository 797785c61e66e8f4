import { callerOf } from '#api/dashboard/caller-of.ts';
import type { DashboardDeps } from '#api/dashboard/dashboard-deps.ts';
import { deliveryList } from '#api/dashboard/delivery-list.ts';
import { HEALTH_DAYS, lastFailure, successRate } from '#api/dashboard/endpoint-health.ts';
import { EMPTY_FORM, field, formAction, postForm } from '#api/dashboard/form.ts';
import { html, type Content } from '#api/dashboard/html.ts';
import { redirectTo } from '#api/dashboard/redirect-to.ts';
import { forMember, type AccountVisit, type PageReply, type Route, type RouteReply } from '#api/dashboard/route.ts';
import { table } from '#api/dashboard/table.ts';
import { ago, counted } from '#api/dashboard/format-values.ts';
import { isAtLeast } from '#api/users/user.ts';
import { createWebhookEndpoint } from '#api/webhooks/create-webhook-endpoint.ts';
import { selectEndpointHealth, type EndpointHealth } from '#api/webhooks/endpoint-health-rows.ts';
import { selectWebhookEndpoints, type WebhookEndpoint } from '#api/webhooks/webhook-endpoint-rows.ts';
import { LIMITS } from '#crds/catalogue/plans.ts';

/** Page with the webhook endpoints and the newest deliveries of an account. */
export const webhookListRoutes: readonly Route[] = [
  forMember('GET', '/accounts/:account/webhooks', { needs: 'read_only' }, webhookPage),
  forMember(
    'POST',
    '/accounts/:account/webhooks',
    { needs: 'developer' },
    formAction({ work: create, page: webhookPage, fields: ['url'] }),
  ),
];

async function webhookPage(deps: DashboardDeps, visit: AccountVisit, form = EMPTY_FORM): Promise<PageReply> {
  const { database, docsUrl, clock } = deps;
  const { account } = visit;
  const endpoints = await selectWebhookEndpoints(database, account.id);
  const since = new Date(clock.now().getTime() - HEALTH_DAYS * 24 * 3600 * 1000);
  const health = await selectEndpointHealth(database, { accountId: account.id, since });
  const healthOf = new Map(health.map((one) => [one.endpointId, one]));
  const path = `/accounts/${account.id}/webhooks`;
  const body = html`${field(form, { name: 'url', label: 'Address', hint: 'A public https address; it receives an event for every finished job.', type: 'url' })}`;
  const cells = ({ id, shownUrl, enabled, createdAt }: WebhookEndpoint) => [
    html`<a class="break" href="/dashboard${path}/${id}">${shownUrl}</a>`,
    html`<span class="status ${enabled ? 'succeeded' : 'canceled'}">${enabled ? 'on' : 'paused'}</span>`,
    successRate(healthOf.get(id)),
    lastFailure(healthOf.get(id)),
    ago(createdAt),
  ];
  return {
    kind: 'page',
    title: `Webhooks – ${account.name}`,
    body: html`<h1>Webhooks</h1>
      <p>
        ${counted(endpoints.length, 'endpoint')} of ${LIMITS.webhookEndpoints}.
        <a href="${docsUrl}/reference/webhooks">How to check their signature</a>
      </p>
      ${table({
        caption: 'Endpoints, newest first',
        columns: ['Address', 'State', `Delivered in ${HEALTH_DAYS} days`, 'Last failure', 'Created'],
        rows: [...endpoints.map((endpoint) => cells(endpoint)), ...jobAddressRow(healthOf.get(null))],
        empty: 'No endpoint yet. With an endpoint you do not need to poll jobs.',
      })}
      ${
        isAtLeast(visit.role, 'developer') &&
        html`<section class="card">
          <h2>Add an endpoint</h2>
          ${postForm(visit, { action: path, form, body, button: 'Add the endpoint' })}
        </section>`
      }
      ${await deliveryList(deps, visit, {
        path,
        empty: 'Nothing was delivered yet. A job that ends sends an event to each endpoint that is on.',
      })}`,
  };
}

/** Returns the row of the addresses that jobs name, where events were sent to any. */
function jobAddressRow(health: EndpointHealth | undefined): readonly Content[][] {
  if (health === undefined) return [];
  return [
    [
      html`<a href="#deliveries">Addresses of jobs (<code>webhook_url</code>)</a>`,
      '–',
      successRate(health),
      lastFailure(health),
      '–',
    ],
  ];
}

async function create(deps: DashboardDeps, visit: AccountVisit): Promise<RouteReply> {
  const { account, form } = visit;
  const input = { url: (form.get('url') ?? '').trim() };
  const { endpoint, secret } = await createWebhookEndpoint(deps, { caller: callerOf(visit), input });
  const shown = { label: 'Signing secret', value: secret };
  return redirectTo(`/accounts/${account.id}/webhooks/${endpoint.id}`, { text: 'The endpoint is on.', secret: shown });
}
