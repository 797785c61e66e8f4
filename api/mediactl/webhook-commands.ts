import { findAccount } from '#api/accounts/account-rows.ts';
import type { Service } from '#api/mediactl/open-service.ts';
import type { Answer } from '#api/mediactl/print.ts';
import { selectDeliveries, type DeliveryRecord } from '#api/webhooks/delivery-record-rows.ts';
import { deliveryState, withoutQuery } from '#api/webhooks/delivery-state.ts';
import { resendDelivery } from '#api/webhooks/resend-delivery.ts';
import { MediaError } from '#crds/media-error.ts';

/** The newest ones that a list shows. */
export const MOST_LISTED = 1000;

interface ListOptions {
  readonly account?: string;
  readonly dead?: boolean;
}

export async function deliveries({ database }: Service, { account, dead = false }: ListOptions): Promise<Answer> {
  if (account !== undefined && (await findAccount(database, account)) === null) {
    throw new MediaError('not_found', `There is no account \`${account}\`. \`mediactl account list\` shows them.`);
  }
  const found = await selectDeliveries(database, { accountId: account ?? null, onlyDead: dead, limit: MOST_LISTED });
  return { list: found.map((delivery) => deliveryFields(delivery)) };
}

export async function resend(service: Service, eventId: string): Promise<Answer> {
  return { object: deliveryFields(await resendDelivery(service, eventId)) };
}

function deliveryFields(delivery: DeliveryRecord) {
  return {
    event: delivery.eventId,
    state: deliveryState(delivery),
    account: delivery.accountId,
    job: delivery.jobId,
    endpoint: delivery.endpointId,
    url: withoutQuery(delivery.url),
    attempts: delivery.attempt,
    last_status: delivery.lastStatus,
    last_error: delivery.lastError,
    created_at: delivery.createdAt.toISOString(),
    next_at: delivery.doneAt === null ? delivery.nextAt.toISOString() : null,
    done_at: delivery.doneAt?.toISOString() ?? null,
  };
}
