/** SQL of URLs that rows still have in plain text: which there are, and their replacement by encrypted ones. */
import type { Queryable } from '#api/store/database.ts';

export type UrlTable = 'webhook_endpoints' | 'webhook_deliveries' | 'webhook_pings' | 'jobs';

interface PlainUrl {
  readonly id: string;
  readonly url: string;
}

/** Returns the SQL of a new row's plain URL: null once no process needs it. `url` and `at` name query parameters. */
export function plainUrlUntilEnd(url: string, at: string): string {
  return `case when ${at}::timestamptz < (select at from plain_urls_end) then ${url}::text end`;
}

/** Returns true while processes of the previous version, which need plain URLs, may still run. */
export async function needsPlainUrls(db: Queryable, now: Date): Promise<boolean> {
  const { rows } = await db.query<{ needed: boolean }>('select $1 < at as needed from plain_urls_end', [now]);
  return rows[0]?.needed === true;
}

/** Returns rows with a plain URL and locks them until the transaction ends. Omits rows that are locked already. */
export async function selectPlainUrls(tx: Queryable, table: UrlTable, limit: number): Promise<readonly PlainUrl[]> {
  const column = table === 'jobs' ? 'webhook_url' : 'url';
  return tx.selectRows<PlainUrl>(
    `select id, ${column} as url from ${table} where ${column} is not null limit $1 for update skip locked`,
    [limit],
  );
}

/** Replaces the plain URL of a row by the encrypted one. */
export async function replacePlainUrl(
  tx: Queryable,
  table: UrlTable,
  { id, sealedUrl, shownUrl }: { id: string; sealedUrl: Buffer; shownUrl: string },
): Promise<void> {
  if (table === 'jobs') {
    await tx.query('update jobs set webhook_url = null, sealed_webhook_url = $2 where id = $1', [id, sealedUrl]);
  } else if (table === 'webhook_pings') {
    await tx.query('update webhook_pings set url = null, sealed_url = $2 where id = $1', [id, sealedUrl]);
  } else {
    const values = [id, sealedUrl, shownUrl];
    await tx.query(`update ${table} set url = null, sealed_url = $2, shown_url = $3 where id = $1`, values);
  }
}
