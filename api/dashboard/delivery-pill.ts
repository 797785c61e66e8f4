import { html, type Html } from '#api/dashboard/html.ts';
import type { DeliveryRecord } from '#api/webhooks/delivery-record-rows.ts';
import { deliveryState } from '#api/webhooks/delivery-state.ts';

/** Returns the state of a delivery. After a failed attempt it is `retrying`, with the time of the next attempt. */
export function deliveryPill(delivery: Pick<DeliveryRecord, 'delivered' | 'attempt' | 'nextAt' | 'lastError'>): Html {
  const state = deliveryState(delivery);
  if (state !== 'queued' || delivery.attempt === 0 || delivery.lastError === null)
    return html`<span class="status ${state}">${state}</span>`;
  const iso = delivery.nextAt.toISOString();
  return html`<span class="status retrying"
    >retrying · next <time datetime="${iso}" title="${iso}" data-clock>${iso.slice(11, 16)} UTC</time></span
  >`;
}
