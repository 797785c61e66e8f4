import { MEDIACTL } from '#api/audit/audit.ts';
import { findAccount } from '#api/accounts/account-rows.ts';
import type { MediactlService } from '#api/mediactl/open-service.ts';
import type { CommandResult } from '#api/mediactl/format-result.ts';
import { selectDeliveries, type DeliveryRecord } from '#api/webhooks/delivery-record-rows.ts';
import { resendDelivery } from '#api/webhooks/resend-delivery.ts';
import { MediaError } from '#crds/contract/media-error.ts';

/** Maximum number of deliveries in a list. */
export const MAX_LISTED = 1000;

interface ListOptions {
  readonly account?: string;
  readonly dropped?: boolean;
}

/** Lists the newest deliveries of an account, or of all accounts. @throws MediaError not_found */
export async function deliveries(
  { database }: MediactlService,
  { account, dropped = false }: ListOptions,
): Promise<CommandResult> {
  if (account !== undefined && (await findAccount(database, account)) === null) {
    throw new MediaError('not_found', `There is no account \`${account}\`. \`mediactl account list\` shows them.`);
  }
  const found = await selectDeliveries(database, {
    accountId: account ?? null,
    ...(dropped && { state: 'dropped' as const }),
    limit: MAX_LISTED,
  });
  return { list: found.map((delivery) => deliveryFields(delivery)) };
}

/** Queues a delivered or dropped event again. @throws MediaError not_found, or before the event has ended. */
export async function resend(service: MediactlService, eventId: string): Promise<CommandResult> {
  return { object: deliveryFields(await resendDelivery(service, { caller: MEDIACTL, input: { eventId } })) };
}

function deliveryFields(delivery: DeliveryRecord) {
  return {
    event: delivery.eventId,
    state: delivery.state,
    account: delivery.accountId,
    job: delivery.jobId,
    endpoint: delivery.endpointId,
    url: delivery.shownUrl,
    attempts: delivery.attempt,
    last_status: delivery.lastStatus,
    last_error: delivery.lastError,
    created_at: delivery.createdAt.toISOString(),
    next_at: delivery.doneAt === null ? delivery.nextAt.toISOString() : null,
    done_at: delivery.doneAt?.toISOString() ?? null,
  };
}
