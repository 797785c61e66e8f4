import { mkdtemp, open, rm, writeFile, type FileHandle } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { closeServer, listen } from '#crds/process/ops-server.ts';
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

beforeEach(async () => {
  [requests, responses, shares] = [[], [], []];
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

/** Uploads the content, with URLs for the given number of parts of 4 bytes; 0: in one request only. */
function send(parts: number, size = CONTENT.length): Promise<void> {
  const urls = Array.from({ length: parts }, (_, index) => `${url}/${index + 1}`);
  return upload(deps, {
    target: { url: `${url}/whole`, parts: parts === 0 ? null : { bytes: 4, urls, completeUrl: `${url}/complete` } },
    file,
    size,
    contentType: 'text/plain',
    signal: new AbortController().signal,
    onProgress: (share) => shares.push(share),
  });
}

describe('upload', () => {
  it('sends a file without parts in one request', async () => {
    await send(0);
    expect(requests).toEqual([`PUT /whole ${CONTENT}`]);
    expect(shares.at(-1)).toBe(1);
  });

  it('sends a file that is not larger than one part in one request', async () => {
    await send(3, 4);
    expect(requests).toEqual(['PUT /whole 0123']);
  });

  it('sends an empty file', async () => {
    await send(0, 0);
    expect(requests).toEqual(['PUT /whole ']);
  });

  it('sends parts in their order and completes them with their ETags', async () => {
    await send(5);
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
    await send(3);
    expect(requests.map((request) => request.split(' ', 2).join(' '))).toEqual([
      'PUT /1',
      'PUT /1',
      'PUT /2',
      'PUT /3',
      'POST /complete',
      'POST /complete',
    ]);
  });

  it('throws TransferFailed when there are too few URLs for the parts', async () => {
    await expect(send(2)).rejects.toThrow('the output has 10 bytes, its upload URLs accept 8 at most');
    expect(requests).toEqual([]);
  });

  it.each([
    ['a refused request', [{ status: 403 }], 0],
    ['a part without an ETag', [{ status: 200 }], 3],
  ])('throws TransferFailed for %s', async (_what, refused, parts) => {
    responses = refused;
    await expect(send(parts)).rejects.toThrow(TransferFailed);
    expect(requests).toHaveLength(1);
  });
});
