import type { Database } from '#api/store/database.ts';
import type { SecretBox } from '#api/store/secret-box.ts';
import { needsPlainUrls, replacePlainUrl, selectPlainUrls, type UrlTable } from '#api/webhooks/plain-url-rows.ts';
import { sealUrl, urlContext } from '#api/webhooks/stored-url.ts';
import type { Clock } from '#crds/process/clock.ts';
import type { Log } from '#crds/process/log.ts';

interface SealDeps {
  readonly database: Database;
  readonly secretBox: SecretBox;
  readonly clock: Clock;
  readonly log: Pick<Log, 'info'>;
}

/** Maximum number of rows per transaction. */
const BATCH = 200;

const CONTEXTS: Readonly<Record<UrlTable, (id: string) => string>> = {
  webhook_endpoints: urlContext.endpoint,
  webhook_deliveries: urlContext.delivery,
  webhook_pings: urlContext.ping,
  jobs: urlContext.job,
};

/**
 * Encrypts the URLs that are still stored in plain text, once no process of the previous version needs them.
 * Idempotent, and safe to stop at any moment: each batch is a transaction of its own.
 */
export async function sealPlainUrls(deps: SealDeps): Promise<void> {
  if (await needsPlainUrls(deps.database, deps.clock.now())) return;
  for (const table of Object.keys(CONTEXTS) as UrlTable[]) {
    let sealed = 0;
    for (;;) {
      const batch = await sealBatch(deps, table);
      if (batch === 0) break;
      sealed += batch;
    }
    if (sealed > 0) deps.log.info({ table, sealed }, 'plain URLs were encrypted');
  }
}

/** Returns the number of rows that were sealed. */
async function sealBatch({ database, secretBox }: SealDeps, table: UrlTable): Promise<number> {
  return database.transaction(async (tx) => {
    const rows = await selectPlainUrls(tx, table, BATCH);
    for (const { id, url } of rows) {
      await replacePlainUrl(tx, table, { id, ...sealUrl(secretBox, url, CONTEXTS[table](id)) });
    }
    return rows.length;
  });
}
