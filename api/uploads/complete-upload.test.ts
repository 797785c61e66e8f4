import { buffer } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { FileStore } from '#api/files/file-store.ts';
import { completeUpload } from '#api/uploads/complete-upload.ts';
import { contentKey } from '#api/uploads/upload.ts';
import { claimJoin } from '#api/uploads/upload-join-rows.ts';
import { deleteUpload } from '#api/uploads/upload-rows.ts';
import { MediaError } from '#crds/contract/media-error.ts';
import { testUploads } from '#test/support/upload-builder.ts';

const uploads = await testUploads({ livemode: true });
const { deps, caller } = uploads;
const { database, files } = deps;
const BYTES = Buffer.from('a,b\n1,2\n');

async function sentUpload(): Promise<string> {
  const id = await uploads.newUpload({ size: BYTES.length, multipart: true });
  await uploads.sendPart(id, BYTES);
  return id;
}

function complete(id: string, more: Partial<typeof deps> = {}): Promise<{ size: number }> {
  const input = { id, signal: new AbortController().signal };
  return completeUpload({ ...deps, ...more }, { caller, input });
}

/** Returns how a completion ends: `completed`, the code of its refusal or the message of another error. */
function endOf(completion: Promise<unknown>): Promise<string> {
  return completion.then(
    () => 'completed',
    (error: Error) => (error instanceof MediaError ? error.code : error.message),
  );
}

/** Begins a join whose process dies before it records the content. */
async function killJoin(id: string): Promise<void> {
  const killed = { ...database, changesRow: () => Promise.reject(new Error('killed')) };
  expect(await endOf(complete(id, { database: killed }))).toBe('killed');
}

async function storedBytes(id: string): Promise<Buffer | null> {
  const content = await files.get(contentKey(id));
  return content === null ? null : buffer(content.body);
}

describe('completeUpload', () => {
  it('joins the parts once for concurrent calls and refuses the others as completed', async () => {
    const id = await sentUpload();
    let [calls, joins] = [0, 0];
    const begun = Promise.withResolvers<void>();
    const query: typeof database.query = (...statement) => {
      calls += 1;
      if (calls === 5) begun.resolve();
      return database.query(...statement);
    };
    const put: FileStore['put'] = async (...content) => {
      joins += 1;
      await begun.promise;
      return files.put(...content);
    };
    // Each call selects the parts once, with `query`: the first join goes on when all calls have done so.
    const own = { database: { ...database, query }, files: { ...files, put } };
    const ends = await Promise.all(Array.from({ length: 5 }, () => endOf(complete(id, own))));
    expect(ends.toSorted()).toEqual(['completed', ...Array(4).fill('upload_already_completed')]);
    expect(joins).toBe(1);
    expect(await storedBytes(id)).toEqual(BYTES);
  });

  it('joins the parts again when the lease of a process that died has expired', async () => {
    const id = await sentUpload();
    await killJoin(id);
    uploads.time += 14_999;
    const waiting = complete(id);
    uploads.time += 1;
    expect(await waiting).toEqual({ size: BYTES.length });
    expect(await endOf(complete(id))).toBe('upload_already_completed');
  });

  it('refuses a call that has waited 25 seconds for another one', async () => {
    const id = await sentUpload();
    await killJoin(id);
    await database.query('update uploads set join_lease_until = $2 where id = $1', [
      id,
      new Date(uploads.time + 3_600_000),
    ]);
    const now = () => new Date((uploads.time += 25_000));
    expect(await endOf(complete(id, { clock: { now } }))).toBe('engine_busy');
  });

  it('extends the lease of a running join and refuses one that has lost it', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    onTestFinished(() => void vi.useRealTimers());
    const id = await sentUpload();
    const [began, resumed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const get: FileStore['get'] = async (key) => {
      began.resolve();
      await resumed.promise;
      return files.get(key);
    };
    const running = endOf(complete(id, { files: { ...files, get } }));
    await began.promise;
    const claim = () =>
      claimJoin(database, id, { now: new Date(uploads.time), leaseUntil: new Date(uploads.time + 15_000) });
    const leaseUntil = async () =>
      (await database.findRow<{ at: Date }>('select join_lease_until as at from uploads where id = $1', [id]))?.at;
    uploads.time += 10_000;
    vi.advanceTimersByTime(5000);
    await expect.poll(leaseUntil).toEqual(new Date(uploads.time + 15_000));
    uploads.time += 14_999;
    expect(await claim()).toBeNull();
    uploads.time += 1;
    expect(await claim()).toBe(2);
    vi.advanceTimersByTime(5000);
    resumed.resolve();
    expect(await running).toBe('engine_busy');
  });

  it('releases the lease when the join fails', async () => {
    const id = await sentUpload();
    const put = () => Promise.reject(new Error('no space left'));
    expect(await endOf(complete(id, { files: { ...files, put } }))).toBe('no space left');
    expect(await endOf(complete(id))).toBe('completed');
  });

  it('refuses a join whose parts another call has joined and deleted', async () => {
    const id = await sentUpload();
    const get: FileStore['get'] = async (key) => {
      uploads.time += 15_000;
      expect(await endOf(complete(id))).toBe('completed');
      return files.get(key);
    };
    expect(await endOf(complete(id, { files: { ...files, get } }))).toBe('upload_already_completed');
    expect(await storedBytes(id)).toEqual(BYTES);
  });

  it('deletes the content of an upload that was deleted during the join', async () => {
    const id = await sentUpload();
    const put: FileStore['put'] = async (...content) => {
      const stored = await files.put(...content);
      await deleteUpload(database, id);
      return stored;
    };
    expect(await endOf(complete(id, { files: { ...files, put } }))).toBe('not_found');
    expect(await storedBytes(id)).toBeNull();
  });
});
