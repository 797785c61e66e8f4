export const DELIVERY_STATES = ['queued', 'delivered', 'dead'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

/** Returns the state that operators see. `dead`: dropped after the eighth attempt. */
export function deliveryState({ delivered }: { readonly delivered: boolean | null }): DeliveryState {
  if (delivered === null) return 'queued';
  return delivered ? 'delivered' : 'dead';
}
