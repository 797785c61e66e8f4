import { findAccount } from '#api/accounts/account-rows.ts';
import { JOBS_CHANNEL } from '#api/jobs/jobs-channel.ts';
import { CommandLineError } from '#api/mediactl/command-line-error.ts';
import type { Service } from '#api/mediactl/open-service.ts';
import type { Answer } from '#api/mediactl/print.ts';
import { notify } from '#api/store/listen.ts';
import {
  findDelivery,
  queueDeliveryAgain,
  selectDeliveries,
  type DeliveryRecord,
} from '#api/webhooks/delivery-record-rows.ts';
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

/** Queues a delivered or dead event again: the same id and body, signed anew, eight attempts from now on. */
export async function resend({ database, clock }: Service, eventId: string): Promise<Answer> {
  const queued = await database.transaction(async (tx) => {
    const again = await queueDeliveryAgain(tx, eventId, clock.now());
    if (again !== null) await notify(tx, JOBS_CHANNEL, again.jobId);
    return again;
  });
  if (queued !== null) return { object: deliveryFields(queued) };
  const waiting = await findDelivery(database, eventId);
  if (waiting === null) {
    throw new MediaError('not_found', `There is no event \`${eventId}\`. \`mediactl webhook deliveries\` shows them.`);
  }
  throw new CommandLineError(
    `The event ${eventId} is still queued; its next attempt is due at ${waiting.nextAt.toISOString()}.`,
  );
}

function deliveryFields(delivery: DeliveryRecord) {
  return {
    event: delivery.eventId,
    state: stateOf(delivery),
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

function stateOf({ delivered }: DeliveryRecord): 'queued' | 'delivered' | 'dead' {
  if (delivered === null) return 'queued';
  return delivered ? 'delivered' : 'dead';
}

/** A query often holds a token of the receiver. */
function withoutQuery(url: string): string {
  return url.replace(/\?.*$/s, '?…');
}
