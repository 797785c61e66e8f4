import type { DeliveryRecord } from '#api/webhooks/delivery-record-rows.ts';

/** `dead`: given up after the eighth attempt. */
export function deliveryState({ delivered }: Pick<DeliveryRecord, 'delivered'>): 'queued' | 'delivered' | 'dead' {
  if (delivered === null) return 'queued';
  return delivered ? 'delivered' : 'dead';
}

/** A query often holds a token of the receiver. */
export function withoutQuery(url: string): string {
  return url.replace(/\?.*$/s, '?…');
}
