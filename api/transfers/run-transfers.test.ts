import { describe, expect, it } from 'vitest';
import { selectDueDeletions } from '#api/files/file-deletion-rows.ts';
import { claimDueTransfers, runTransfer } from '#api/transfers/run-transfers.ts';
import { extendLease, recordFetched, selectSettledTransfers } from '#api/transfers/transfer-rows.ts';
import { makeSecretBox } from '#api/store/secret-box.ts';
import { startPollingWorkers } from '#api/loops/polling-workers.ts';
import { file, testCourier } from '#test/support/courier.ts';
import { startReceiver } from '#test/support/receiver.ts';

const courier = await testCourier();
const { database, deps } = courier;

describe('runTransfer', () => {
  it('is repeated by another process after the lease of a killed one has expired', async () => {
    const receiver = await startReceiver({ host: '127.0.0.2', respond: file('hello') });
    const id = await courier.newJob({ inputUrl: `https://127.0.0.2:${receiver.port}/` });
    const killed = { ...deps, database: { ...database, transaction: () => Promise.reject(new Error('killed')) } };
    for (const transfer of await claimDueTransfers(deps, 1)) {
      await expect(runTransfer(killed, transfer, new AbortController().signal)).rejects.toThrow('killed');
    }
    courier.time += 59_999;
    expect(await courier.runDue()).toBe(0);
    courier.time += 1;
    expect(await courier.runDue()).toBe(1);
    expect(await courier.inputOf(id)).toMatchObject({ input_stored: true });
  });

  it('ignores the end of an attempt after a later one has begun', async () => {
    const receiver = await startReceiver({
      host: '127.0.0.2',
      respond: (response) => void response.writeHead(404).end(),
    });
    const id = await courier.newJob({ inputUrl: `https://127.0.0.2:${receiver.port}/` });
    const [late] = await claimDueTransfers(deps, 1);
    courier.time += 60_000;
    await claimDueTransfers(deps, 1);
    if (late !== undefined) await runTransfer(deps, late, new AbortController().signal);
    expect(await courier.transferOf(id)).toMatchObject({
      attempt: 2,
      done_at: null,
      error: null,
      lease_until: new Date(courier.time + 60_000),
    });
    expect(late !== undefined && (await extendLease(database, late, new Date(courier.time)))).toBe(false);
  });

  it('releases an uncounted attempt when the process stops', async () => {
    const began = Promise.withResolvers<void>();
    const receiver = await startReceiver({
      host: '127.0.0.2',
      respond: (response) => {
        response.writeHead(200, { 'content-length': 5 }).write('h');
        began.resolve();
      },
    });
    const id = await courier.newJob({ inputUrl: `https://127.0.0.2:${receiver.port}/` });
    const workers = startPollingWorkers(deps, {
      name: 'test',
      concurrency: 4,
      pollIntervalMs: 60_000,
      claim: (free) => claimDueTransfers(deps, free),
      work: (item, signal) => runTransfer(deps, item, signal),
    });
    await began.promise;
    await workers.stop();
    expect(await courier.transferOf(id)).toMatchObject({ attempt: 0, lease_until: null, done_at: null });
  });

  it.each([
    ['input', 'fetch'],
    ['output', 'deliver'],
  ])('repeats an uncounted attempt 20 seconds after the file store failed on the %s', async (_file, direction) => {
    const receiver = await startReceiver({ host: '127.0.0.2', respond: file('hello') });
    const url = `https://127.0.0.2:${receiver.port}/`;
    const id = await (direction === 'fetch' ? courier.newJob({ inputUrl: url }) : courier.jobWithOutput(url));
    const unavailable = () => Promise.reject(new Error('the file store is unavailable'));
    const failing = { ...deps, files: { get: unavailable, put: unavailable } };
    for (let i = 0; i < 5; i += 1) {
      const claimed = await claimDueTransfers(deps, 1);
      expect(claimed).toMatchObject([{ attempt: 1 }]);
      for (const transfer of claimed) await runTransfer(failing, transfer, new AbortController().signal);
      expect(await courier.transferOf(id)).toMatchObject({ attempt: 0, lease_until: null, done_at: null });
      courier.time += 19_999;
      expect(await claimDueTransfers(deps, 1)).toEqual([]);
      courier.time += 1;
    }
    expect(await courier.runDue()).toBe(1);
    expect(await courier.transferOf(id)).toMatchObject({ attempt: 1, done_at: deps.clock.now(), error: null });
  });

  it.each(['input.url', 'output.url'] as const)(
    'ends with internal, and is not repeated, when the stored %s cannot be decrypted',
    async (field) => {
      const receiver = await startReceiver({ host: '127.0.0.2', respond: file('hello') });
      const url = `https://127.0.0.2:${receiver.port}/`;
      const id = await (field === 'input.url' ? courier.newJob({ inputUrl: url }) : courier.jobWithOutput(url));
      const withoutKey = { ...deps, secretBox: makeSecretBox([{ id: 'b', key: Buffer.alloc(32, 2) }]) };
      for (const transfer of await claimDueTransfers(deps, 1)) {
        await runTransfer(withoutKey, transfer, new AbortController().signal);
      }
      const error = { code: 'internal', message: `The stored \`${field}\` is not readable. Create the job again.` };
      expect(await courier.transferOf(id)).toMatchObject({ attempt: 1, done_at: deps.clock.now(), error });
      expect(await selectSettledTransfers(database, 10)).toMatchObject([{ jobId: id, error }]);
      expect(receiver.connections()).toBe(0);
      courier.time += 60_000;
      expect(await courier.runDue()).toBe(0);
    },
  );

  it('skips a job that has ended and deletes what was stored for it', async () => {
    const before = await courier.newJob({ inputUrl: 'https://127.0.0.2:9/' });
    await courier.finish(before);
    const receiver = await startReceiver({
      host: '127.0.0.2',
      respond: (response) => void courier.finish(during).then(() => file('late')(response)),
    });
    const during = await courier.newJob({ inputUrl: `https://127.0.0.2:${receiver.port}/` });
    expect(await courier.runDue()).toBe(1);
    expect(await courier.inputOf(during)).toMatchObject({ input_stored: false });
    expect(await courier.runDue()).toBe(0);
    expect(await courier.transferOf(before)).toMatchObject({ attempt: 0, done_at: deps.clock.now(), error: null });
    expect(await courier.transferOf(during)).toMatchObject({ done_at: deps.clock.now(), error: null });
    expect(new Set(await selectDueDeletions(database, deps.clock.now(), 10))).toEqual(
      new Set([`inputs/${before}`, `inputs/${during}`]),
    );
    expect(await selectSettledTransfers(database, 10)).toEqual([]);
  });

  it('reports a failed fetch to the recorder, but not a successful one', async () => {
    const receiver = await startReceiver({
      host: '127.0.0.2',
      respond: (response, { path: at }) => (at === '/ok' ? file('x')(response) : void response.writeHead(410).end()),
    });
    await courier.newJob({ inputUrl: `https://127.0.0.2:${receiver.port}/ok` });
    const id = await courier.newJob({ inputUrl: `https://127.0.0.2:${receiver.port}/gone` });
    await courier.runDue();
    const error = {
      code: 'input_fetch_failed',
      message: '`input.url` could not be fetched: the response has status 410.',
    };
    expect(await selectSettledTransfers(database, 10)).toEqual([{ jobId: id, direction: 'fetch', error }]);
  });

  it('reads URLs that are encrypted in the database', async () => {
    const id = await courier.newJob({ inputUrl: 'https://files.example.com/?sig=canary' });
    const { rows } = await database.query<{ text: string }>(
      "select encode(input_url, 'escape') as text from jobs where id = $1",
      [id],
    );
    expect(rows[0]?.text).not.toContain('canary');
  });
});

describe('claimDueTransfers', () => {
  it('claims at most eight transfers of an account, so that none of another account waits', async () => {
    for (let i = 0; i < 20; i += 1) await courier.newJob({ inputUrl: 'https://127.0.0.2:9/' });
    courier.time += 1;
    const other = await courier.newJob({ inputUrl: 'https://127.0.0.2:9/', owner: await courier.newAccount() });
    const claims = await Promise.all([claimDueTransfers(deps, 10), claimDueTransfers(deps, 10)]);
    const claimed = claims.flat().map(({ jobId }) => jobId);
    expect(claimed).toHaveLength(9);
    expect(claimed).toContain(other);
    expect(await claimDueTransfers(deps, 10)).toEqual([]);
  });
});

describe('progress of a fetch', () => {
  // Promise, States: The fetch of `input.url` is the first tenth of the progress
  it('is 0 to 10 percent of the job, and is not recorded when the job has its input', async () => {
    let finish = (): void => undefined;
    const receiver = await startReceiver({
      host: '127.0.0.2',
      respond: (response) => {
        response.writeHead(200, { 'content-length': 100 }).write('x'.repeat(70));
        finish = () => void response.end('x'.repeat(30));
      },
    });
    const id = await courier.newJob({ inputUrl: `https://127.0.0.2:${receiver.port}/` });
    const percent = async () => (await database.query('select percent from jobs where id = $1', [id])).rows[0];
    const running = courier.runDue();
    await expect.poll(percent, { timeout: 20_000 }).toEqual({ percent: 7 });
    finish();
    await running;
    await recordFetched(database, id, 9);
    expect(await percent()).toEqual({ percent: 7 });
  });
});
