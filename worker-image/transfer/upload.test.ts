import { mkdtemp, open, rm, writeFile, type FileHandle } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { closeServer, listen } from '#crds/process/ops-server.ts';
import type { Transfer } from '#crds/contract/transfer-urls.ts';
import type { RequestTransfer } from '#worker-image/transfer/request-transfer.ts';
import { TransferFailed } from '#worker-image/transfer/retry-transfer.ts';
import { upload } from '#worker-image/transfer/upload.ts';

const CONTENT = '0123456789';
const deps = { now: () => 0, random: () => 0, wait: () => Promise.resolve() };

let directory: string;
let file: FileHandle;
let server: Server;
let url: string;
/** Requests as `METHOD path body`. */
let requests: string[];
/** Responses in the order of the requests; afterwards 200 with an ETag. */
let responses: { status: number; etag?: string; body?: string }[];
let shares: number[];
let granted: Transfer[];

beforeEach(async () => {
  [requests, responses, shares, granted] = [[], [], [], []];
  directory = await mkdtemp(join(tmpdir(), 'upload-'));
  await writeFile(join(directory, 'output'), CONTENT);
  file = await open(join(directory, 'output'));
  server = createServer((request, response) => {
    void text(request).then((body) => {
      requests.push(`${request.method} ${request.url} ${body}`);
      const { status, etag, body: reply } = responses.shift() ?? { status: 200, etag: `"${requests.length}"` };
      response.writeHead(status, etag === undefined ? {} : { etag }).end(reply);
    });
  });
  await listen(server, { host: '127.0.0.1', port: 0 });
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(async () => {
  await file.close();
  await closeServer(server);
  await rm(directory, { recursive: true });
});

/** Uploads the content: in parts of 4 bytes with URLs of their own, or in one request. */
function send(parts: 'parts' | 'whole', size = CONTENT.length): Promise<void> {
  const requestTransfer: RequestTransfer = async (transfer) => {
    granted.push(transfer);
    if (transfer.of === 'part') return { url: `${url}/${transfer.number}` };
    if (transfer.of === 'completion') return { url: `${url}/complete` };
    return parts === 'whole' || size <= 4 ? { url: `${url}/whole` } : { upload: { id: 'upload-1', partBytes: 4 } };
  };
  return upload(deps, {
    requestTransfer,
    file,
    size,
    contentType: 'text/plain',
    signal: new AbortController().signal,
    onProgress: (share) => shares.push(share),
  });
}

describe('upload', () => {
  it('sends a file without parts in one request', async () => {
    await send('whole');
    expect(requests).toEqual([`PUT /whole ${CONTENT}`]);
    expect(shares.at(-1)).toBe(1);
  });

  it('sends a file that is not larger than one part in one request', async () => {
    await send('parts', 4);
    expect(requests).toEqual(['PUT /whole 0123']);
  });

  it('sends an empty file', async () => {
    await send('whole', 0);
    expect(requests).toEqual(['PUT /whole ']);
  });

  it('sends parts in their order and completes them with their ETags', async () => {
    await send('parts');
    const part = (number: number): string => `<Part><PartNumber>${number}</PartNumber><ETag>"${number}"</ETag></Part>`;
    expect(requests).toEqual([
      'PUT /1 0123',
      'PUT /2 4567',
      'PUT /3 89',
      `POST /complete <CompleteMultipartUpload>${part(1)}${part(2)}${part(3)}</CompleteMultipartUpload>`,
    ]);
    expect(shares).toEqual([0.4, 0.8, 1]);
  });

  it('repeats a failed part, and a completion that reports its error with status 200', async () => {
    responses = [
      { status: 503 },
      { status: 200, etag: '"a"' },
      { status: 200, etag: '"b"' },
      { status: 200, etag: '"c"' },
      { status: 200, body: '<Error><Code>InternalError</Code></Error>' },
    ];
    await send('parts');
    expect(requests.map((request) => request.split(' ', 2).join(' '))).toEqual([
      'PUT /1',
      'PUT /1',
      'PUT /2',
      'PUT /3',
      'POST /complete',
      'POST /complete',
    ]);
  });

  it('requests a URL for each part, and another one for each further try', async () => {
    responses = [{ status: 200, etag: '"1"' }, { status: 403 }];
    await send('parts');
    const part = (number: number) => ({ of: 'part', uploadId: 'upload-1', number });
    const completion = { of: 'completion', uploadId: 'upload-1' };
    expect(granted).toEqual([{ of: 'output', size: 10 }, part(1), part(2), part(2), part(3), completion]);
  });

  it('requests another URL when the first one of a whole output is refused', async () => {
    responses = [{ status: 400 }];
    await send('whole');
    expect(granted).toEqual([
      { of: 'output', size: 10 },
      { of: 'output', size: 10 },
    ]);
  });

  it.each([
    ['three refused URLs', [{ status: 403 }, { status: 403 }, { status: 403 }], 'whole'],
    ['a refused request', [{ status: 411 }], 'whole'],
    ['a part without an ETag', [{ status: 200 }], 'parts'],
  ] as const)('throws TransferFailed for %s', async (_what, refused, parts) => {
    responses = [...refused];
    await expect(send(parts)).rejects.toThrow(TransferFailed);
    expect(requests).toHaveLength(refused.length);
  });
});
