/** SQL of webhook endpoints. A deleted endpoint keeps its row, which queued deliveries refer to. */
import { PREPARED, type Queryable } from '#api/store/database.ts';
import { plainUrlUntilEnd } from '#api/webhooks/plain-url-rows.ts';
import { shortenUrl, type NewUrl, type StoredUrl } from '#api/webhooks/stored-url.ts';

export interface WebhookEndpoint extends StoredUrl {
  readonly id: string;
  /** URL without the parts that may be secret. */
  readonly shownUrl: string;
  /** False while paused. */
  readonly enabled: boolean;
  readonly createdAt: Date;
}

const COLUMNS = `id, url as "plainUrl", sealed_url as "sealedUrl", shown_url as "shownUrl", enabled,
  created_at as "createdAt"`;

type Row<More = unknown> = Omit<WebhookEndpoint, 'shownUrl'> & { readonly shownUrl: string | null } & More;

/** Inserts the endpoint; returns null when the account has `most` already. Parallel calls wait for each other. */
export async function insertWebhookEndpoint(
  tx: Queryable,
  endpoint: { id: string; accountId: string; url: NewUrl; sealedSecret: Buffer; createdAt: Date },
  most: number,
): Promise<WebhookEndpoint | null> {
  await tx.query('select 1 from accounts where id = $1 for update', [endpoint.accountId]);
  const { plainUrl, sealedUrl, shownUrl } = endpoint.url;
  const { rows } = await tx.query<Row>(
    `insert into webhook_endpoints (id, account_id, url, secret, created_at, sealed_url, shown_url)
     select $1, $2, ${plainUrlUntilEnd('$3', '$5')}, $4, $5, $7, $8
     where (select count(*) from webhook_endpoints where account_id = $2 and deleted_at is null) < $6
     returning ${COLUMNS}`,
    [endpoint.id, endpoint.accountId, plainUrl, endpoint.sealedSecret, endpoint.createdAt, most, sealedUrl, shownUrl],
  );
  return first(rows);
}

/** Returns the account's endpoints, newest first. */
export async function selectWebhookEndpoints(db: Queryable, accountId: string): Promise<readonly WebhookEndpoint[]> {
  const { rows } = await db.query<Row>(
    `select ${COLUMNS} from webhook_endpoints where account_id = $1 and deleted_at is null order by created_at desc, id desc`,
    [accountId],
  );
  return rows.map((row) => withShownUrl(row));
}

/** Returns an endpoint with its encrypted secret; null when there is none. */
export async function findWebhookEndpoint(
  db: Queryable,
  { accountId, id }: { accountId: string; id: string },
): Promise<(WebhookEndpoint & { readonly sealedSecret: Buffer }) | null> {
  const { rows } = await db.query<Row<{ readonly sealedSecret: Buffer }>>(
    `select ${COLUMNS}, secret as "sealedSecret" from webhook_endpoints where account_id = $1 and id = $2 and deleted_at is null`,
    [accountId, id],
  );
  return first(rows);
}

/** Pauses or resumes an endpoint; returns null when there is none. */
export async function setWebhookEndpointEnabled(
  db: Queryable,
  { accountId, id, enabled }: { accountId: string; id: string; enabled: boolean },
): Promise<WebhookEndpoint | null> {
  const { rows } = await db.query<Row>(
    `update webhook_endpoints set enabled = $3 where account_id = $1 and id = $2 and deleted_at is null returning ${COLUMNS}`,
    [accountId, id, enabled],
  );
  return first(rows);
}

/**
 * Replaces the secret of events that are created from now on; queued deliveries keep theirs. Returns null when there is
 * no such endpoint.
 */
export async function replaceWebhookSecret(
  db: Queryable,
  { accountId, id, sealedSecret }: { accountId: string; id: string; sealedSecret: Buffer },
): Promise<WebhookEndpoint | null> {
  const { rows } = await db.query<Row>(
    `update webhook_endpoints set secret = $3 where account_id = $1 and id = $2 and deleted_at is null returning ${COLUMNS}`,
    [accountId, id, sealedSecret],
  );
  return first(rows);
}

/** Marks the endpoint as deleted; queued deliveries still run. Returns false when there is none. */
export async function deleteWebhookEndpointRow(
  db: Queryable,
  { accountId, id, at }: { accountId: string; id: string; at: Date },
): Promise<boolean> {
  return db.changesRow(
    'update webhook_endpoints set deleted_at = $3 where account_id = $1 and id = $2 and deleted_at is null',
    [accountId, id, at],
  );
}

interface WebhookTarget extends StoredUrl {
  readonly id: string;
  /** null: the row has a plain URL. */
  readonly shownUrl: string | null;
  readonly enabled: boolean;
  readonly sealedSecret: Buffer;
}

/** Returns the account's endpoints, paused ones included, with their encrypted secrets. */
export async function selectWebhookTargets(tx: Queryable, accountId: string): Promise<readonly WebhookTarget[]> {
  return tx.selectRows<WebhookTarget>(
    `select id, url as "plainUrl", sealed_url as "sealedUrl", shown_url as "shownUrl", enabled, secret as "sealedSecret"
     from webhook_endpoints
     where account_id = $1 and deleted_at is null order by created_at, id`,
    [accountId],
    PREPARED,
  );
}

function first<More>(rows: readonly Row<More>[]): (WebhookEndpoint & More) | null {
  const [row] = rows;
  return row === undefined ? null : withShownUrl(row);
}

/** Adds the shortened URL, which rows of the previous version lack. */
function withShownUrl<More>(row: Row<More>): WebhookEndpoint & More {
  return { ...row, shownUrl: row.shownUrl ?? shortenUrl(row.plainUrl ?? '') };
}
