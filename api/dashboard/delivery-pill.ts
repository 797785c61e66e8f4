import { html, type Html } from '#api/dashboard/html.ts';
import type { DeliveryRecord } from '#api/webhooks/delivery-record-rows.ts';

/** Returns the state of a delivery; with the time of the next attempt while it is retrying. */
export function deliveryPill({ state, nextAt }: Pick<DeliveryRecord, 'state' | 'nextAt'>): Html {
  if (state !== 'retrying') return html`<span class="status ${state}">${state}</span>`;
  const iso = nextAt.toISOString();
  return html`<span class="status retrying"
    >retrying · next <time datetime="${iso}" title="${iso}" data-clock>${iso.slice(11, 16)} UTC</time></span
  >`;
}
