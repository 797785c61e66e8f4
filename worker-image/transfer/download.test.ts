import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { download, type Download } from '#worker-image/transfer/download.ts';
import { makeRequestTransfer } from '#worker-image/transfer/request-transfer.ts';
import { startStoreHost, type StoreHost, type StoreHostOptions } from '#test/support/store-host.ts';

const CONTENT = Buffer.from('content of the input');
const deps = { now: () => 0, random: () => 0, wait: () => Promise.resolve() };

const attemptAt = (url: string) => ({
  jobId: 'job_00000000000000000000',
  attempt: 1,
  dispatch: 'nonce',
  heartbeat: { url: `${url}/heartbeat`, token: 'token' },
});

let directory: string;
let path: string;
let host: StoreHost | null;
let shares: number[];

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'download-'));
  [path, host, shares] = [join(directory, 'input'), null, []];
});
afterEach(async () => {
  await host?.close();
  await rm(directory, { recursive: true });
});

async function fetchFrom(served: StoreHostOptions, more: Partial<Download> = {}): Promise<void> {
  host = await startStoreHost({ input: CONTENT, etag: '"v1"', ...served });
  await download(deps, {
    requestTransfer: makeRequestTransfer(attemptAt(host.url)),
    etag: '"v1"',
    size: CONTENT.length,
    path,
    signal: new AbortController().signal,
    onProgress: (share) => shares.push(share),
    ...more,
  });
}

describe('download', () => {
  it.each([
    ['of a known size', {}],
    ['of unknown size', { size: null }],
  ])('writes an input %s to the file', async (_what, more) => {
    await fetchFrom({}, more);
    expect(await readFile(path)).toEqual(CONTENT);
    expect(shares.at(-1)).toBe(1);
  });

  it('requests another URL for each try, so that an expired one is replaced', async () => {
    await fetchFrom({ faults: { GET: [403, 400] } });
    expect(await readFile(path)).toEqual(CONTENT);
    expect(host?.granted).toEqual(['input', 'input', 'input']);
  });

  it('repeats an interrupted download from its beginning', async () => {
    await fetchFrom({ faults: { GET: [503, 'cut'] } });
    expect(await readFile(path)).toEqual(CONTENT);
    expect(host?.seen).toEqual(['GET 503', 'GET 200', 'GET 200']);
  });

  // Promise, Bad input, case by case: Uploads used or changed
  it.each<[string, string, StoreHostOptions, Partial<Download>]>([
    ['input_missing', 'a missing object', { faults: { GET: [404] } }, {}],
    ['input_missing', 'a deleted object', { faults: { GET: [410] } }, {}],
    ['input_changed', 'another ETag', { etag: '"v2"' }, {}],
    ['input_changed', 'another size', {}, { size: CONTENT.length + 1 }],
  ])('throws %s for %s, without a retry', async (code, _what, served, more) => {
    await expect(fetchFrom(served, more)).rejects.toMatchObject({ name: 'MediaError', code });
    expect(host?.seen).toHaveLength(1);
  });

  it('throws TransferFailed when the store refuses', async () => {
    await expect(fetchFrom({ faults: { GET: [403, 403, 403] } })).rejects.toMatchObject({ name: 'TransferFailed' });
    expect(host?.seen).toEqual(['GET 403', 'GET 403', 'GET 403']);
  });

  it('does not retry when the file cannot be written', async () => {
    await expect(fetchFrom({}, { path: join(directory, 'missing', 'input') })).rejects.toMatchObject({
      code: 'ENOENT',
    });
    expect(host?.seen).toEqual(['GET 200']);
  });
});
