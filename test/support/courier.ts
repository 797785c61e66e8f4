import { mkdtemp, rm } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { Registry } from 'prom-client';
import { afterAll, beforeEach, expect } from 'vitest';
import { openDiskFiles } from '#api/files/disk-files.ts';
import type { FileStore } from '#api/files/file-store.ts';
import { makeSecretBox } from '#api/store/secret-box.ts';
import { claimDueTransfers, runTransfer, type TransferDeps } from '#api/transfers/run-transfers.ts';
import { makeTransferMetrics } from '#api/transfers/transfer-metrics.ts';
import { insertTransfer } from '#api/transfers/transfer-rows.ts';
import { newId } from '#crds/contract/ids.ts';
import { makeLog } from '#crds/process/log.ts';
import { makeSafeFetch } from '#api/outbound/safe-fetch.ts';
import { testDatabase, type TestDatabase } from '#test/support/database.ts';
import { trustReceivers } from '#test/support/receiver.ts';

/** Time at which every test begins. */
export const START = Date.UTC(2026, 0, 1);
export const MB = 1024 ** 2;

interface JobFields {
  readonly inputUrl?: string;
  readonly target?: { readonly url: string; readonly headers: Readonly<Record<string, string>> };
  readonly owner?: string;
}

interface TransferState {
  readonly attempt: number;
  readonly next_at: Date;
  readonly lease_until: Date | null;
  readonly done_at: Date | null;
  readonly error: { readonly code: string; readonly message: string } | null;
}

export interface Courier {
  /** Milliseconds; a test moves it. */
  time: number;
  readonly database: TestDatabase;
  readonly files: FileStore;
  readonly registry: Registry;
  readonly deps: TransferDeps;
  newAccount(plan?: string): Promise<string>;
  /** A job with a transfer that is due: a fetch when it has an `inputUrl`, else an upload. */
  newJob(fields: JobFields): Promise<string>;
  /** A job whose output, 10 bytes of WebP, waits for its upload. */
  jobWithOutput(url: string, headers?: Readonly<Record<string, string>>): Promise<string>;
  /** The job is canceled. */
  finish(id: string): Promise<void>;
  /** Claims everything that is due and makes one attempt each. Returns their number. */
  runDue(): Promise<number>;
  transferOf(id: string): Promise<TransferState>;
  inputOf(id: string): Promise<unknown>;
}

const NAMES: Readonly<Record<string, string>> = {
  'files.receiver.test': '127.0.0.2',
  'private.receiver.test': '127.0.0.1',
};

/** Transfers on a real database and disk, with a clock that a test moves. 127.0.0.2 represents the public network. */
export async function testCourier(): Promise<Courier> {
  const database = await testDatabase();
  const registry = new Registry();
  const clock = { now: () => new Date(courier.time) };
  const files = await openTestFiles(clock);
  const secretBox = makeSecretBox([{ id: 'a', key: Buffer.alloc(32, 1) }]);
  const safeFetch = makeSafeFetch({
    resolve: async (name) => [NAMES[name] ?? '127.0.0.1'],
    privateTargets: ['127.0.0.2/32'],
    secureContext: trustReceivers(),
  });
  const metrics = makeTransferMetrics({ database, clock }, registry);
  const log = makeLog('test', 'silent');
  const deps: TransferDeps = { database, files, safeFetch, secretBox, clock, metrics, log, tracing: null };
  let accountId = '';
  const only = async <Row>(text: string, id: string): Promise<Row> => {
    const { rows } = await database.query<Row>(text, [id]);
    expect(rows).toHaveLength(1);
    return rows[0] as Row;
  };
  const courier: Courier = {
    time: START,
    database,
    files,
    registry,
    deps,
    newAccount: async (plan = 'none') => {
      const id = newId('account');
      await database.query('insert into accounts (id, name, plan, created_at) values ($1, $1, $2, $3)', [
        id,
        plan,
        new Date(0),
      ]);
      return id;
    },
    newJob: async ({ inputUrl, target, owner = accountId }) => {
      const id = newId('job');
      await database.query(
        `insert into jobs (id, account_id, livemode, operation, created_at, input_key, input_stored, options, limits, features,
           retention_seconds, metadata, input_url, output_target, output_key, report)
         values ($1, $2, true, 'compress', $3, $4, $5, '{}', '{}', '{}', 3600, '{}', $6, $7, $8, '{"result": {"output_format": "webp"}}')`,
        [
          id,
          owner,
          clock.now(),
          `inputs/${id}`,
          inputUrl === undefined,
          inputUrl === undefined ? null : secretBox.seal(inputUrl, `job-input:${id}`),
          target === undefined ? null : secretBox.seal(JSON.stringify(target), `job-output:${id}`),
          target === undefined ? null : `outputs/${id}/1`,
        ],
      );
      await insertTransfer(database, {
        jobId: id,
        direction: inputUrl === undefined ? 'deliver' : 'fetch',
        nextAt: clock.now(),
      });
      return id;
    },
    jobWithOutput: async (url, headers = {}) => {
      const id = await courier.newJob({ target: { url, headers } });
      await files.put(`outputs/${id}/1`, Readable.from([Buffer.from('the output')]), { maxBytes: MB });
      return id;
    },
    finish: async (id) => {
      await database.query(`update jobs set status = 'canceled', completed_at = $2, error = '{}' where id = $1`, [
        id,
        clock.now(),
      ]);
    },
    runDue: async () => {
      const claimed = await claimDueTransfers(deps, 100);
      await Promise.all(claimed.map((transfer) => runTransfer(deps, transfer, new AbortController().signal)));
      return claimed.length;
    },
    transferOf: (id) =>
      only('select tries as attempt, next_at, lease_until, done_at, error from transfers where job_id = $1', id),
    inputOf: (id) => only('select input_stored, input_etag, input_filename, input_size from jobs where id = $1', id),
  };
  beforeEach(async () => {
    courier.time = START;
    await database.query('truncate transfers, file_deletions');
    accountId = await courier.newAccount();
  });
  return courier;
}

/** Returns a response with the content, its length and the headers. */
export function file(
  content: string,
  headers: Readonly<Record<string, string>> = {},
): (response: ServerResponse) => void {
  return (response) =>
    void response.writeHead(200, { 'content-length': Buffer.byteLength(content), ...headers }).end(content);
}

/** Returns the port of a server on 127.0.0.2 that responds with exactly these bytes. */
export async function rawServer(response: string): Promise<number> {
  const server = createServer(
    (socket) => void socket.on('error', () => undefined).once('data', () => socket.end(response)),
  );
  await new Promise<void>((listening) => void server.listen(0, '127.0.0.2', listening));
  afterAll(() => void server.close());
  return (server.address() as AddressInfo).port;
}

async function openTestFiles(clock: { now: () => Date }): Promise<FileStore> {
  const directory = await mkdtemp(path.join(tmpdir(), 'mediajobs-transfers-'));
  afterAll(() => rm(directory, { recursive: true, force: true }));
  return openDiskFiles({
    clock,
    directory,
    baseUrl: 'http://127.0.0.1:1',
    linkKeys: [{ id: 'a', key: Buffer.alloc(32, 2) }],
  });
}
