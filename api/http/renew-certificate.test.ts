import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { renewCertificate } from '#api/http/renew-certificate.ts';
import { makeReceiverCertificates } from '#test/support/receiver-certificates.ts';

const [first, second] = [makeReceiverCertificates(), makeReceiverCertificates()];
let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'certificate-'));
});
afterEach(() => rm(folder, { recursive: true }));

async function write({ certificate, key }: { certificate: string; key: string }): Promise<void> {
  await writeFile(join(folder, 'cert.new'), certificate);
  await writeFile(join(folder, 'key.new'), key);
  await copyFile(join(folder, 'key.new'), join(folder, 'key.pem'));
  await copyFile(join(folder, 'cert.new'), join(folder, 'cert.pem'));
}

describe('renewCertificate', () => {
  it('serves a new pair once, and stays with the one before when the new one is refused', async () => {
    const served: unknown[] = [];
    const problems: unknown[] = [];
    const server = {
      setSecureContext: (pair: { key?: unknown }) => {
        if (pair.key === 'broken') throw new Error('key values mismatch');
        served.push(pair);
      },
    };
    const log = { info: () => undefined, error: (problem: unknown) => problems.push(problem) };
    await write(first);
    const files = { certFile: join(folder, 'cert.pem'), keyFile: join(folder, 'key.pem') };
    const loop = await renewCertificate({ server, log: log as never }, files, { everyMs: 5 });
    await write({ ...second, key: 'broken' });
    await expect.poll(() => problems.length).toBeGreaterThan(0);
    expect(served).toEqual([]);
    await write(second);
    await expect.poll(() => served).toContainEqual({ cert: second.certificate, key: second.key });
    const count = served.length;
    await loop.stop();
    expect(count).toBeLessThanOrEqual(2);
  });
});
