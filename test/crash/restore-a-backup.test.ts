/** Procedures of `docs/operations.md`: backup and restore, and the replacement of every key. */
import { execFile } from 'node:child_process';
import { createPublicKey, randomBytes, verify, type JsonWebKey } from 'node:crypto';
import { cp, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { readConnection } from '#api/embedded/connection.ts';
import { startPostgres } from '#api/embedded/postgres.ts';
import { startOwnService } from '#test/crash/own-service.ts';
import { runJob } from '#test/support/run-through.ts';

const run = promisify(execFile);
const service = await startOwnService();
const backup = await mkdtemp(path.join(tmpdir(), 'mediajobs-backup-'));
afterAll(() => rm(backup, { recursive: true }));

const file = { bytes: Buffer.from('id,name\n0010,Ada\n0011,Grace\n'), filename: 'people.csv' };
const toJson = { operation: 'convert', options: { convert: { to: 'json' } } };
const secretsFile = path.join(service.data, 'secrets.json');

interface Known {
  readonly job: Record<string, any>;
  readonly output: Buffer;
  readonly receipt: string;
  readonly signingSecret: unknown;
}

/** Creates a job and reads everything that a restored service must return. */
async function finishedWork(): Promise<Known> {
  const api = service.api();
  const { id } = await runJob(api, file, toJson);
  const receipt = await api('GET', `/v1/jobs/${String(id)}/receipt`);
  const secret = await api('GET', '/v1/webhook_endpoints/signing_secret');
  expect([receipt.status, secret.status]).toEqual([200, 200]);
  const output = (await api('GET', `/v1/jobs/${String(id)}/output`)).bytes;
  const job = (await api('GET', `/v1/jobs/${String(id)}`)).json();
  return { job, output, receipt: String(receipt.json()['jws']), signingSecret: secret.json() };
}

async function expectKnown({ job, output, receipt, signingSecret }: Known): Promise<void> {
  const api = service.api();
  const { download_url: oldLink, ...result } = job['result'] as { download_url: string };
  expect((await api('GET', `/v1/jobs/${String(job['id'])}`)).json()).toMatchObject({
    ...job,
    result: expect.objectContaining(result),
  });
  expect((await api('GET', `/v1/jobs/${String(job['id'])}/output`)).bytes).toEqual(output);
  const { pathname, search } = new URL(oldLink);
  expect((await api('GET', pathname + search, { key: null })).bytes).toEqual(output);
  expect((await api('GET', `/v1/jobs/${String(job['id'])}/receipt`)).json()).toMatchObject({ jws: receipt });
  expect((await api('GET', '/v1/webhook_endpoints/signing_secret')).json()).toEqual(signingSecret);
  await expectGenuine(receipt);
}

/** Verifies a signature by the published keys alone. Returns the id of the key. */
async function expectGenuine(jws: string): Promise<string> {
  const [header = '', payload = '', signature = ''] = jws.split('.');
  const { kid } = JSON.parse(Buffer.from(header, 'base64url').toString()) as { kid: string };
  const published = (await service.api()('GET', '/v1/receipt_keys', { key: null })).json();
  const jwk = (published['keys'] as (JsonWebKey & { kid: string })[]).find((key) => key.kid === kid);
  const publicKey = createPublicKey({ key: jwk ?? {}, format: 'jwk' });
  const signed = Buffer.from(`${header}.${payload}`);
  expect(verify(null, signed, publicKey, Buffer.from(signature, 'base64url'))).toBe(true);
  return kid;
}

/** Copies a folder in which the service still deletes files: those that disappear meanwhile are missing from the copy. */
async function copyLive(from: string, to: string): Promise<void> {
  const copied = await run('cp', ['-a', from, to]).catch((error: { stderr?: string }) => error);
  const lines = (copied.stderr ?? '').split('\n').filter((line) => line !== '');
  expect(lines.filter((line) => !line.includes('No such file or directory'))).toEqual([]);
}

async function stop(): Promise<void> {
  process.kill(service.pid(), 'SIGTERM');
  expect(await service.ended()).toBe(0);
}

const databaseUrl = (): string => readConnection(service.data)?.DATABASE_URL ?? '';

describe('a backup of database, files and secrets', () => {
  it('restores jobs, results, keys, links and receipts after everything was deleted', async () => {
    const known = await finishedWork();
    const dump = path.join(backup, 'database.dump');
    await run('pg_dump', ['--format=custom', '--no-owner', `--file=${dump}`, databaseUrl()]);
    await copyLive(path.join(service.data, 'files'), backup);
    await cp(secretsFile, path.join(backup, 'secrets.json'));
    await stop();
    await rm(service.data, { recursive: true });

    await mkdir(service.data);
    const postgres = await startPostgres({ dataFolder: service.data, durable: true, onLine: () => {} });
    await run('pg_restore', ['--no-owner', '--exit-on-error', `--dbname=${postgres.url}`, dump]);
    await postgres.stop();
    await cp(path.join(backup, 'files'), path.join(service.data, 'files'), { recursive: true });
    await cp(path.join(backup, 'secrets.json'), secretsFile);
    await service.restart();

    await expectKnown(known);
    expect(await runJob(service.api(), file, toJson)).toMatchObject({ status: 'succeeded' });
  }, 240_000);
});

describe('the replacement of every key', () => {
  const ring = (id: string): string => `${id}:${randomBytes(32).toString('base64')}`;

  /** Changes the file with the service down, as an operator does. */
  async function changeSecrets(change: (secrets: Record<string, string>) => Record<string, string>): Promise<void> {
    const secrets = JSON.parse(await readFile(secretsFile, 'utf8')) as Record<string, string>;
    await stop();
    await writeFile(`${secretsFile}.new`, JSON.stringify({ ...secrets, ...change(secrets) }), { mode: 0o600 });
    await rename(`${secretsFile}.new`, secretsFile);
    await service.restart();
  }

  it('keeps everything readable, and new receipts have the new key', async () => {
    const known = await finishedWork();
    const oldKey = await expectGenuine(known.receipt);
    const now = new Date().toISOString();
    await changeSecrets((old) => ({
      MEDIAJOBS_KEY_PEPPER: `${randomBytes(32).toString('base64url')},${old['MEDIAJOBS_KEY_PEPPER']}`,
      MEDIAJOBS_ENCRYPTION_KEYS: `${ring('2')},${old['MEDIAJOBS_ENCRYPTION_KEYS']}`,
      MEDIAJOBS_LINK_KEYS: `${ring('2')},${old['MEDIAJOBS_LINK_KEYS']}`,
      MEDIAJOBS_RECEIPT_KEYS: `${randomBytes(32).toString('base64')}@${now},${old['MEDIAJOBS_RECEIPT_KEYS']}/${now}`,
    }));
    await expectKnown(known);
    const { receipt } = await finishedWork();
    expect(await expectGenuine(receipt)).not.toBe(oldKey);
  }, 240_000);

  it('allows the removal of the old pepper and link key: API keys that were used meanwhile are still valid', async () => {
    const known = await finishedWork();
    const first = (list = ''): string => list.split(',')[0] ?? '';
    await changeSecrets((both) => ({
      MEDIAJOBS_KEY_PEPPER: first(both['MEDIAJOBS_KEY_PEPPER']),
      MEDIAJOBS_LINK_KEYS: first(both['MEDIAJOBS_LINK_KEYS']),
    }));
    await expectKnown(known);
  }, 240_000);
});
