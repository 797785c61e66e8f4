import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readCertificate, renewCertificate, type Certificate } from '#api/http/renew-certificate.ts';
import { makeReceiverCertificates } from '#test/support/receiver-certificates.ts';

const [first, second] = [makeReceiverCertificates(), makeReceiverCertificates()].map(
  ({ certificate, key }): Certificate => ({ cert: certificate, key }),
) as [Certificate, Certificate];
let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'certificate-'));
});
afterEach(() => rm(folder, { recursive: true }));

const filesOf = () => ({ certFile: join(folder, 'cert.pem'), keyFile: join(folder, 'key.pem') });

async function write({ cert, key }: Certificate): Promise<void> {
  await writeFile(filesOf().certFile, cert);
  await writeFile(filesOf().keyFile, key);
}

describe('readCertificate', () => {
  it.for([
    ['the key of another certificate', { ...first, key: second.key }, 'is not the private key'],
    ['an empty key', { ...first, key: '' }, 'contains no certificate or key'],
    ['an empty certificate', { ...first, cert: '' }, 'contains no certificate or key'],
    ['half a key', { ...first, key: first.key.slice(0, 100) }, 'contains no certificate or key'],
  ] as const)('refuses %s', async ([, pair, message]) => {
    await write(pair);
    await expect(readCertificate(filesOf())).rejects.toThrow(message);
  });
});

describe('renewCertificate', () => {
  it('serves a new pair once and keeps the previous one when the new one is invalid', async () => {
    const served: unknown[] = [];
    const problems: unknown[] = [];
    const server = { setSecureContext: (pair: object) => void served.push(pair) };
    const log = { info: () => undefined, error: (problem: unknown) => problems.push(problem) };
    await write(first);
    const loop = renewCertificate({ server, log: log as never }, filesOf(), { first, everyMs: 5 });
    await write({ ...second, key: '' });
    await expect.poll(() => problems.length).toBeGreaterThan(0);
    expect(served).toEqual([]);
    await write(second);
    await expect.poll(() => served).toEqual([second]);
    const earlierProblems = problems.length;
    await write({ ...first, key: second.key });
    await expect.poll(() => problems.length).toBeGreaterThan(earlierProblems);
    await loop.stop();
    expect(served).toEqual([second]);
  });
});
