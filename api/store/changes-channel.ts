import type { Queryable } from '#api/store/database.ts';
import { notify } from '#api/store/listen.ts';

/** PostgreSQL notification channels. A notification may be lost: receivers also poll. */

/** Channel of the recorder: ids of jobs that were created, were changed by the API, or whose transfer has ended. */
export const CHANGES_CHANNEL = 'mediajobs';
/** Channel of the courier: names of queues in which something is due, `CourierQueue`. */
export const COURIER_CHANNEL = 'mediajobs_courier';
export type CourierQueue = 'transfers' | 'deliveries' | 'pings';

/** Notifies the courier that something is due in one of its queues. */
export function notifyCourier(on: Queryable, queue: CourierQueue): Promise<void> {
  return notify(on, COURIER_CHANNEL, queue);
}
