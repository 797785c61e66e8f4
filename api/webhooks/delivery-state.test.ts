import { expect, it } from 'vitest';
import { deliveryState } from '#api/webhooks/delivery-state.ts';

it.each([
  [null, 'queued'],
  [true, 'delivered'],
  [false, 'dead'],
] as const)('a delivery whose `delivered` is %s is %s', (delivered, state) => {
  expect(deliveryState({ delivered })).toBe(state);
});
