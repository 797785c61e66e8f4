import type { DeliveryRecord } from '#api/webhooks/delivery-record-rows.ts';

/** Returns the state that operators see. `dead`: dropped after the eighth attempt. */
export function deliveryState({ delivered }: Pick<DeliveryRecord, 'delivered'>): 'queued' | 'delivered' | 'dead' {
  if (delivered === null) return 'queued';
  return delivered ? 'delivered' : 'dead';
}
