import type { IncomingMessage } from 'node:http';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BODY_BYTES_HEADER, TENANT_HEADER } from '#crds/contract/direct-work.ts';
import { declaredBody, spoolBody } from '#worker-image/direct/spool-body.ts';

const MAX_BYTES = 100;

describe('declaredBody', () => {
  it.each([
    ['acc_1', '12', { tenant: 'acc_1', bytes: 12 }],
    ['acc_1', '101', { tenant: 'acc_1', bytes: MAX_BYTES }],
    ['acc_1', '-1', { tenant: 'acc_1', bytes: MAX_BYTES }],
    ['acc_1', '1e1', { tenant: 'acc_1', bytes: MAX_BYTES }],
    ['acc_1', undefined, { tenant: 'acc_1', bytes: MAX_BYTES }],
    ['../acc', '12', { tenant: '', bytes: 12 }],
    ['x'.repeat(65), '12', { tenant: '', bytes: 12 }],
    [undefined, '12', { tenant: '', bytes: 12 }],
  ])('of tenant %s and %s bytes is %o', (tenant, bytes, declared) => {
    expect(declaredBody({ headers: { [TENANT_HEADER]: tenant, [BODY_BYTES_HEADER]: bytes } }, MAX_BYTES)).toEqual(
      declared,
    );
  });
});

describe('spoolBody', () => {
  let directory: string;
  let path: string;
  let body: PassThrough;
  let heads: string[];
  let received: number;
  let isComplete: boolean;
  let stop: AbortController;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'spool-body-'));
    path = join(directory, 'input');
    [body, heads, received, isComplete, stop] = [new PassThrough(), [], 0, false, new AbortController()];
  });
  afterEach(() => rm(directory, { recursive: true }));

  /** Receives a body of which the given number of bytes is declared. */
  function spool(bytes: number): Promise<void> {
    const admission = {
      receive: (size: number) => (received += size) <= bytes,
      complete: () => void (isComplete = true),
    };
    const onStart = (head: Buffer): void => void heads.push(head.toString());
    const declared = { tenant: 'a', bytes };
    const input = { path, declared, maxBytes: MAX_BYTES, signal: stop.signal, onStart };
    return spoolBody(admission, body as unknown as IncomingMessage, input);
  }

  it('writes the body to the file, reports its first chunk once, and completes the admission', async () => {
    const spooled = spool(10);
    body.write('first');
    body.end('other');
    await spooled;
    expect({ file: await readFile(path, 'utf8'), heads, received, isComplete }).toEqual({
      file: 'firstother',
      heads: ['first'],
      received: 10,
      isComplete: true,
    });
  });

  it('writes a body of many chunks in their order', async () => {
    const chunks = Array.from({ length: 40 }, (_, at) => Buffer.alloc(10_000 + at, at));
    const spooled = spool(1e6);
    for (const chunk of chunks) body.write(chunk);
    body.end();
    await spooled;
    expect(Buffer.concat(chunks).equals(await readFile(path))).toBe(true);
  });

  it.each([
    ['bad_request', 'more bytes than it declared', 5],
    ['file_too_large', 'more bytes than the maximum', MAX_BYTES],
  ])('throws %s for a body with %s, and leaves the request open for the response', async (code, _what, bytes) => {
    const spooled = spool(bytes);
    body.write('x'.repeat(bytes + 1));
    await expect(spooled).rejects.toMatchObject({ code });
    expect({ isComplete, destroyed: body.destroyed }).toEqual({ isComplete: false, destroyed: false });
  });

  it("throws the signal's reason", async () => {
    const spooled = spool(10);
    const reason = new Error('revoked');
    stop.abort(reason);
    await expect(spooled).rejects.toBe(reason);
    expect(isComplete).toBe(false);
  });

  it('throws the error of the request', async () => {
    const spooled = spool(10);
    body.destroy(new Error('reset'));
    await expect(spooled).rejects.toThrow('reset');
  });
});
