import { figures } from '#api/dashboard/figures.ts';
import { html, type Content, type Html } from '#api/dashboard/html.ts';
import { ago, number } from '#api/dashboard/format-values.ts';
import { isFailing, type EndpointHealth } from '#api/webhooks/endpoint-health-rows.ts';

/** Days of the success rate. */
export const HEALTH_DAYS = 7;

/** Returns the share of ended events that were delivered, such as `99.2 % of 120`. */
export function successRate(health: EndpointHealth | undefined): Content {
  const ended = health === undefined ? 0 : health.delivered + health.dropped;
  if (health === undefined || ended === 0) return '–';
  const share = html`${number((100 * health.delivered) / ended, 1)} % of ${number(ended)}`;
  return health.retrying === 0 ? share : html`${share}, ${number(health.retrying)} retrying`;
}

/** Returns the time of the last failure; red while no event was delivered since. */
export function lastFailure(health: EndpointHealth | undefined): Content {
  if (health === undefined) return 'none';
  if (!isFailing(health)) return ago(health.lastFailureAt, 'none');
  return html`<strong class="problem">${ago(health.lastFailureAt)}</strong>`;
}

/** Returns the figures of an endpoint. */
export function healthFigures(health: EndpointHealth | undefined): Html {
  return figures([
    [`Delivered in ${HEALTH_DAYS} days`, successRate(health)],
    ['Last failure', lastFailure(health)],
    ['Dropped', number(health?.dropped ?? 0), 'after eight failed attempts'],
  ]);
}
