/**
 * A data folder of the version before each process had a user of its own: schema 5, every file private to the user of
 * the start, one work folder for all, `processes.json` without the id of the machine's start.
 */
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { keyDigest, keyHint, newKeyText } from '#api/accounts/api-key.ts';
import { readConnection } from '#api/embedded/connection.ts';
import { startPostgres } from '#api/embedded/postgres.ts';
import { runService, type RunningService } from '#api/embedded/run-service.ts';
import { openSecrets } from '#api/embedded/secrets.ts';
import { openDiskFiles } from '#api/files/disk-files.ts';
import { makeDatabase, type Database } from '#api/store/database.ts';
import { migrate, MIGRATIONS_FOLDER } from '#api/store/migrate.ts';
import { makeSecretBox, type SecretBox } from '#api/store/secret-box.ts';
import { newId } from '#crds/contract/ids.ts';
import { systemClock } from '#crds/process/clock.ts';
import { makeLog } from '#crds/process/log.ts';
import { makeApiClient, type ApiClient } from '#test/support/api-client.ts';
import { runJob } from '#test/support/run-through.ts';

const isRoot = process.getuid?.() === 0;
const OLD_SCHEMA = 5;
const data = mkdtempSync(path.join(tmpdir(), 'mediajobs-old-'));
const key = newKeyText('live');
const ids = { account: newId('account'), key: newId('key'), job: newId('job'), endpoint: newId('webhookEndpoint') };
const output = Buffer.from('[{"id":"0010"}]\n');
const hook = 'https://hooks.example.com/T0ken';
const leftover = path.join(data, 'work', 'mediajobs-work-999999-abcdef');
let service: RunningService | null = null;
let api: ApiClient;
const problems: string[] = [];

async function makeOldFolder(): Promise<void> {
  for (const name of ['tls', 'files', 'work', 'run', 'log']) mkdirSync(path.join(data, name), { mode: 0o700 });
  mkdirSync(leftover, { mode: 0o700 });
  writeFileSync(path.join(leftover, 'input'), 'a file of a caller');
  const stranger = [{ name: 'api', pid: process.pid, startedAtTick: 1 }];
  writeFileSync(path.join(data, 'run', 'processes.json'), JSON.stringify(stranger), { mode: 0o600 });
  const secrets = openSecrets({ clock: systemClock }, path.join(data, 'secrets.json'));
  const ring = [{ id: '1', key: Buffer.from(secrets.MEDIAJOBS_ENCRYPTION_KEYS.replace(/^1:/, ''), 'base64') }] as const;
  const store = { clock: systemClock, directory: path.join(data, 'files'), baseUrl: 'http://unused', linkKeys: ring };
  const files = await openDiskFiles(store);
  await files.put(`outputs/${ids.job}/first-1`, Readable.from([output]), { maxBytes: 1000 });
  const postgres = await startPostgres({ dataFolder: data, durable: false, onLine: () => undefined });
  const database = makeDatabase({ url: postgres.url, log: makeLog('test', 'silent'), maxConnections: 1 });
  await migrateToOldSchema(database);
  await insertRecords(database, { pepper: secrets.MEDIAJOBS_KEY_PEPPER, secretBox: makeSecretBox(ring) });
  await database.close();
  await postgres.stop();
  rmSync(path.join(data, 'run', 'postgres'), { recursive: true, force: true });
}

async function migrateToOldSchema(database: Database): Promise<void> {
  const folder = mkdtempSync(path.join(tmpdir(), 'mediajobs-migrations-'));
  const old = readdirSync(MIGRATIONS_FOLDER).filter((name) => Number.parseInt(name, 10) <= OLD_SCHEMA);
  for (const name of old) copyFileSync(path.join(MIGRATIONS_FOLDER, name), path.join(folder, name));
  expect(await migrate({ database, clock: systemClock }, { folder })).toHaveLength(OLD_SCHEMA);
  rmSync(folder, { recursive: true });
}

async function insertRecords(
  database: Database,
  { pepper, secretBox }: { pepper: string; secretBox: SecretBox },
): Promise<void> {
  const now = new Date();
  const insert = (table: string, row: Record<string, unknown>): Promise<unknown> => {
    const values = Object.values(row);
    const parameters = values.map((_, index) => `$${index + 1}`);
    return database.query(
      `insert into ${table} (${Object.keys(row).join(', ')}) values (${parameters.join(', ')})`,
      values,
    );
  };
  await insert('accounts', { id: ids.account, name: 'old', plan: 'growth', payment_method: true, created_at: now });
  await insert('api_keys', {
    id: ids.key,
    account_id: ids.account,
    livemode: true,
    name: 'old',
    digest: keyDigest(pepper, key),
    hint: keyHint(key),
    created_at: now,
  });
  await insert('webhook_endpoints', {
    id: ids.endpoint,
    account_id: ids.account,
    url: hook,
    secret: secretBox.seal('whsec_dGVzdA==', `endpoint:${ids.endpoint}`),
    enabled: false,
    created_at: now,
  });
  await insert('jobs', {
    id: ids.job,
    account_id: ids.account,
    livemode: true,
    operation: 'convert',
    status: 'succeeded',
    percent: 100,
    attempt: 1,
    created_at: now,
    started_at: now,
    completed_at: now,
    input_key: 'uploads/gone',
    input_filename: 'people.csv',
    input_size: 14,
    input_stored: true,
    options: '{}',
    limits: '{}',
    features: '{}',
    webhook_url: hook,
    retention_seconds: 3600,
    metadata: '{"order":"7"}',
    dispatch: 'first',
    output_key: `outputs/${ids.job}/first-1`,
    result: JSON.stringify({ kind: 'table', input_format: 'csv', output_format: 'json', output_size: output.length }),
    expires_at: new Date(now.getTime() + 3_600_000),
  });
}

describe('a data folder of an older version', () => {
  beforeAll(async () => {
    await makeOldFolder();
    service = await runService({ data, onProblem: (line) => problems.push(line) });
    api = makeApiClient(service, key);
  }, 180_000);
  afterAll(async () => {
    await api.close();
    await service?.stop();
    rmSync(data, { recursive: true, force: true });
  });

  it('starts without a problem for the operator', () => {
    expect(problems).toEqual([]);
  });

  it('keeps its keys, jobs and results', async () => {
    const job = (await api('GET', `/v1/jobs/${ids.job}`)).json();
    expect(job).toMatchObject({ status: 'succeeded', metadata: { order: '7' }, input: { filename: 'people.csv' } });
    const link = new URL(String((job['result'] as Record<string, unknown>)['download_url']));
    expect((await api('GET', link.pathname + link.search, { key: null })).bytes).toEqual(output);
    expect((await api('GET', `/v1/jobs/${ids.job}/output`)).bytes).toEqual(output);
  });

  it('keeps its webhook endpoints', async () => {
    expect((await api('GET', '/v1/webhook_endpoints')).json()['data']).toMatchObject([{ id: ids.endpoint, url: hook }]);
  });

  it('processes new jobs', async () => {
    const file = { bytes: Buffer.from('id,name\n0010,Ada\n'), filename: 'people.csv' };
    const job = await runJob(api, file, { operation: 'convert', options: { convert: { to: 'json' } } });
    expect(job).toMatchObject({ status: 'succeeded' });
  });

  it('has the schema of this version', async () => {
    const database = makeDatabase({
      url: readConnection(data)?.DATABASE_URL ?? '',
      log: makeLog('test', 'silent'),
      maxConnections: 1,
    });
    const { rows } = await database.query<{ version: number }>('select max(version) as version from schema_migrations');
    await database.close();
    expect(rows[0]?.version).toBe(readdirSync(MIGRATIONS_FOLDER).length);
  });

  it('deletes the files that the older version was processing when it was killed', () => {
    expect(readdirSync(path.join(data, 'work')).toSorted()).toEqual(['engine', 'runs']);
  });

  it.runIf(isRoot)(
    'shares its stored files with the group of the processes that use them, and with nobody else',
    () => {
      const { first } = JSON.parse(readFileSync(path.join(data, 'users.json'), 'utf8')) as { first: number };
      const files = readdirSync(path.join(data, 'files'), { recursive: true, encoding: 'utf8' });
      expect(files.length).toBeGreaterThan(4);
      for (const name of files) {
        const { gid, mode } = statSync(path.join(data, 'files', name));
        expect([name, gid, mode & 0o007]).toEqual([name, first + 15, 0]);
      }
    },
  );
});
