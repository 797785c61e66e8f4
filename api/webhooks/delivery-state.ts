/**
 * States of a delivery. `retrying`: an attempt failed, and another one follows. `dropped`: all attempts failed. See
 * docs/reference/webhooks.md#responses-and-retries.
 */
export const DELIVERY_STATES = ['queued', 'retrying', 'delivered', 'dropped'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];
