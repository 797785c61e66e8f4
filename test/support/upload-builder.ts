import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { afterAll } from 'vitest';
import { findAccount } from '#api/accounts/account-rows.ts';
import type { Dependencies } from '#api/dependencies.ts';
import { openDiskFiles } from '#api/files/disk-files.ts';
import { loadSamples } from '#api/samples/samples.ts';
import type { Uploader } from '#api/uploads/create-upload.ts';
import { receivePart } from '#api/uploads/receive-upload.ts';
import { insertUpload } from '#api/uploads/upload-rows.ts';
import { newId } from '#crds/contract/ids.ts';
import { makeLog } from '#crds/process/log.ts';
import { testDatabase } from '#test/support/database.ts';
import { buildAccount } from '#test/support/job-builder.ts';

interface TestUploads {
  /** Milliseconds; a test moves it. */
  time: number;
  readonly deps: Pick<Dependencies, 'database' | 'clock' | 'files' | 'samples' | 'log'>;
  readonly caller: Uploader;
  /** Creates an upload without content. Returns its id. */
  newUpload(fields: { size: number; multipart: boolean }): Promise<string>;
  sendPart(id: string, bytes: Buffer): Promise<unknown>;
}

/** Uploads of one account on a real database and disk. */
export async function testUploads({ livemode }: { livemode: boolean }): Promise<TestUploads> {
  const database = await testDatabase();
  const directory = await mkdtemp(path.join(tmpdir(), 'mediajobs-uploads-'));
  afterAll(() => rm(directory, { recursive: true, force: true }));
  const clock = { now: () => new Date(uploads.time) };
  const linkKeys = [{ id: 'a', key: Buffer.alloc(32, 1) }];
  const files = await openDiskFiles({ clock, directory, baseUrl: 'http://127.0.0.1:1', linkKeys });
  const account = await findAccount(database, (await buildAccount(database)).id);
  if (account === null) throw new Error('the account was not created');
  const uploads: TestUploads = {
    time: Date.UTC(2026, 0, 1),
    deps: { database, clock, files, samples: loadSamples(), log: makeLog('test', 'silent') },
    caller: { account, livemode },
    newUpload: async (fields) => {
      const id = newId('upload');
      const [createdAt, expiresAt] = [clock.now(), new Date(uploads.time + 86_400_000)];
      await insertUpload(database, {
        id,
        accountId: account.id,
        livemode,
        filename: null,
        createdAt,
        expiresAt,
        ...fields,
      });
      return id;
    },
    sendPart: (id, bytes) =>
      receivePart(uploads.deps, {
        caller: uploads.caller,
        input: { id, partNumber: '1', size: bytes.length, read: () => Readable.from([bytes]) },
      }),
  };
  return uploads;
}
