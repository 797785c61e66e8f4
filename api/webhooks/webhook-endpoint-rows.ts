/** SQL of webhook endpoints. A deleted one keeps its row; deliveries that are under way still name it. */
import type { Queryable } from '#api/store/database.ts';

export interface WebhookEndpoint {
  readonly id: string;
  readonly url: string;
  /** false while paused. */
  readonly enabled: boolean;
  readonly createdAt: Date;
}

const COLUMNS = 'id, url, enabled, created_at as "createdAt"';

/** null when the account has `most` endpoints already; parallel calls wait for each other. */
export async function insertWebhookEndpoint(
  tx: Queryable,
  endpoint: { id: string; accountId: string; url: string; sealedSecret: Buffer; createdAt: Date },
  most: number,
): Promise<WebhookEndpoint | null> {
  await tx.query('select 1 from accounts where id = $1 for update', [endpoint.accountId]);
  const { rows } = await tx.query<WebhookEndpoint>(
    `insert into webhook_endpoints (id, account_id, url, secret, created_at)
     select $1, $2, $3, $4, $5
     where (select count(*) from webhook_endpoints where account_id = $2 and deleted_at is null) < $6
     returning ${COLUMNS}`,
    [endpoint.id, endpoint.accountId, endpoint.url, endpoint.sealedSecret, endpoint.createdAt, most],
  );
  return rows[0] ?? null;
}

/** Newest first. */
export async function listWebhookEndpoints(db: Queryable, accountId: string): Promise<readonly WebhookEndpoint[]> {
  const { rows } = await db.query<WebhookEndpoint>(
    `select ${COLUMNS} from webhook_endpoints where account_id = $1 and deleted_at is null order by created_at desc, id desc`,
    [accountId],
  );
  return rows;
}

/** With the encrypted secret. */
export async function findWebhookEndpoint(
  db: Queryable,
  { accountId, id }: { accountId: string; id: string },
): Promise<(WebhookEndpoint & { readonly sealedSecret: Buffer }) | null> {
  const { rows } = await db.query<WebhookEndpoint & { sealedSecret: Buffer }>(
    `select ${COLUMNS}, secret as "sealedSecret" from webhook_endpoints where account_id = $1 and id = $2 and deleted_at is null`,
    [accountId, id],
  );
  return rows[0] ?? null;
}

/** null when there is no such endpoint. */
export async function setWebhookEndpointEnabled(
  db: Queryable,
  { accountId, id, enabled }: { accountId: string; id: string; enabled: boolean },
): Promise<WebhookEndpoint | null> {
  const { rows } = await db.query<WebhookEndpoint>(
    `update webhook_endpoints set enabled = $3 where account_id = $1 and id = $2 and deleted_at is null returning ${COLUMNS}`,
    [accountId, id, enabled],
  );
  return rows[0] ?? null;
}

/** For jobs that finish from now on; deliveries that are queued keep the secret they have. null: no such endpoint. */
export async function replaceWebhookSecret(
  db: Queryable,
  { accountId, id, sealedSecret }: { accountId: string; id: string; sealedSecret: Buffer },
): Promise<WebhookEndpoint | null> {
  const { rows } = await db.query<WebhookEndpoint>(
    `update webhook_endpoints set secret = $3 where account_id = $1 and id = $2 and deleted_at is null returning ${COLUMNS}`,
    [accountId, id, sealedSecret],
  );
  return rows[0] ?? null;
}

/** New events go there no more; queued deliveries still run. false when there is no such endpoint. */
export async function deleteWebhookEndpoint(
  db: Queryable,
  { accountId, id, at }: { accountId: string; id: string; at: Date },
): Promise<boolean> {
  const { rowCount } = await db.query(
    'update webhook_endpoints set deleted_at = $3 where account_id = $1 and id = $2 and deleted_at is null',
    [accountId, id, at],
  );
  return rowCount === 1;
}

/** The account's endpoints, paused ones too, with their encrypted secrets. */
export async function selectWebhookTargets(
  tx: Queryable,
  accountId: string,
): Promise<readonly { id: string; url: string; enabled: boolean; sealedSecret: Buffer }[]> {
  const { rows } = await tx.query<{ id: string; url: string; enabled: boolean; sealedSecret: Buffer }>(
    `select id, url, enabled, secret as "sealedSecret" from webhook_endpoints
     where account_id = $1 and deleted_at is null order by created_at, id`,
    [accountId],
  );
  return rows;
}
