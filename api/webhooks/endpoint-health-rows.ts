/** SQL of the outcomes of webhook deliveries by endpoint. */
import type { Queryable } from '#api/store/database.ts';
import { DELIVERY_STATE } from '#api/webhooks/delivery-record-rows.ts';

export interface EndpointHealth {
  /** null: the addresses that jobs name as their webhook_url, together. */
  readonly endpointId: string | null;
  /** Number of delivered events. */
  readonly delivered: number;
  /** Number of events that were dropped after the last attempt. */
  readonly dropped: number;
  /** Number of events whose attempts failed and that will be sent again. */
  readonly retrying: number;
  readonly lastDeliveredAt: Date | null;
  readonly lastFailureAt: Date | null;
}

/** Returns the outcomes of the events that were created since a time, of each endpoint that has any, and of the webhook_urls of jobs. */
export async function selectEndpointHealth(
  db: Queryable,
  { accountId, since }: { accountId: string; since: Date },
): Promise<readonly EndpointHealth[]> {
  return db.selectRows<EndpointHealth>(
    `select d.endpoint_id as "endpointId",
       count(*) filter (where d.delivered)::int as delivered,
       count(*) filter (where d.delivered = false)::int as dropped,
       count(*) filter (where ${DELIVERY_STATE} = 'retrying')::int as retrying,
       max(d.done_at) filter (where d.delivered) as "lastDeliveredAt", max(failure.at) as "lastFailureAt"
     from webhook_deliveries d
     left join lateral (
       select max(a.at) as at from webhook_attempts a where a.event_id = d.id and a.error is not null
     ) failure on true
     where d.account_id = $1 and d.created_at > $2 group by 1`,
    [accountId, since],
  );
}

/** Returns whether events fail at the endpoint: its last failure is newer than its last success. */
export function isFailing({ lastDeliveredAt, lastFailureAt }: EndpointHealth): boolean {
  return lastFailureAt !== null && (lastDeliveredAt === null || lastFailureAt > lastDeliveredAt);
}
