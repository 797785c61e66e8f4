import { describe, expect, it } from 'vitest';
import {
  deleteWebhookEndpointRow,
  findWebhookEndpoint,
  insertWebhookEndpoint,
  selectWebhookEndpoints,
  replaceWebhookSecret,
  setWebhookEndpointEnabled,
  type WebhookEndpoint,
} from '#api/webhooks/webhook-endpoint-rows.ts';
import { signingSecret } from '#api/webhooks/signing-secret.ts';
import { makeSecretBox } from '#api/store/secret-box.ts';
import { sealUrl, urlContext } from '#api/webhooks/stored-url.ts';
import { newId } from '#crds/contract/ids.ts';
import { testDatabase } from '#test/support/database.ts';

const database = await testDatabase();
const secretBox = makeSecretBox([{ id: 'a', key: Buffer.alloc(32, 1) }]);

async function newAccount(): Promise<string> {
  const id = newId('account');
  await database.query('insert into accounts (id, name, created_at) values ($1, $1, $2)', [id, new Date(0)]);
  return id;
}

async function insert(accountId: string, seconds = 0): Promise<WebhookEndpoint | null> {
  const id = newId('webhookEndpoint');
  const endpoint = {
    id,
    accountId,
    url: sealUrl(secretBox, 'https://example.com/T0ken', urlContext.endpoint(id)),
    sealedSecret: Buffer.from('s'),
    createdAt: new Date(seconds * 1000),
  };
  return database.transaction((tx) => insertWebhookEndpoint(tx, endpoint, 10));
}

describe('webhook endpoints', () => {
  it('may have the same URL, and the newest is listed first', async () => {
    const accountId = await newAccount();
    const first = await insert(accountId, 1);
    const second = await insert(accountId, 2);
    expect(await selectWebhookEndpoints(database, accountId)).toEqual([second, first]);
    expect(first).toMatchObject({ enabled: true, plainUrl: null, shownUrl: 'https://example.com/T0…' });
  });

  it('are limited to ten per account, also when twenty are created in parallel', async () => {
    const accountId = await newAccount();
    for (let i = 0; i < 9; i += 1) await insert(accountId);
    const made = await Promise.all(Array.from({ length: 20 }, () => insert(accountId)));
    expect(made.filter((endpoint) => endpoint !== null)).toHaveLength(1);
    expect(await selectWebhookEndpoints(database, accountId)).toHaveLength(10);
  });

  it('are not found after deletion', async () => {
    const accountId = await newAccount();
    const { id } = (await insert(accountId)) as WebhookEndpoint;
    expect(await deleteWebhookEndpointRow(database, { accountId, id, at: new Date(1) })).toBe(true);
    expect(await deleteWebhookEndpointRow(database, { accountId, id, at: new Date(2) })).toBe(false);
    expect(await findWebhookEndpoint(database, { accountId, id })).toBeNull();
    expect(await setWebhookEndpointEnabled(database, { accountId, id, enabled: false })).toBeNull();
    expect(await replaceWebhookSecret(database, { accountId, id, sealedSecret: Buffer.from('x') })).toBeNull();
    expect(await selectWebhookEndpoints(database, accountId)).toEqual([]);
  });

  it('of another account are not found', async () => {
    const { id } = (await insert(await newAccount())) as WebhookEndpoint;
    const other = await newAccount();
    expect(await findWebhookEndpoint(database, { accountId: other, id })).toBeNull();
    expect(await setWebhookEndpointEnabled(database, { accountId: other, id, enabled: false })).toBeNull();
    expect(await replaceWebhookSecret(database, { accountId: other, id, sealedSecret: Buffer.from('x') })).toBeNull();
    expect(await deleteWebhookEndpointRow(database, { accountId: other, id, at: new Date(1) })).toBe(false);
  });

  it('keep a pause and a new secret', async () => {
    const accountId = await newAccount();
    const { id } = (await insert(accountId)) as WebhookEndpoint;
    expect(await setWebhookEndpointEnabled(database, { accountId, id, enabled: false })).toMatchObject({
      enabled: false,
    });
    await replaceWebhookSecret(database, { accountId, id, sealedSecret: Buffer.from('new') });
    expect(await findWebhookEndpoint(database, { accountId, id })).toMatchObject({
      enabled: false,
      sealedSecret: Buffer.from('new'),
    });
  });
});

describe('signingSecret', () => {
  it('creates one secret per account, also in parallel, and stores it encrypted', async () => {
    const accountId = await newAccount();
    const secrets = await Promise.all(
      Array.from({ length: 10 }, () => signingSecret({ secretBox }, database, accountId)),
    );
    expect(new Set(secrets).size).toBe(1);
    expect(secrets[0]).toMatch(/^whsec_[A-Za-z0-9]{32}$/);
    expect(await signingSecret({ secretBox }, database, await newAccount())).not.toBe(secrets[0]);
    const { rows } = await database.query<{ kept: Buffer }>(
      'select signing_secret as kept from accounts where id = $1',
      [accountId],
    );
    expect(rows[0]?.kept.includes(secrets[0] ?? '')).toBe(false);
  });
});
