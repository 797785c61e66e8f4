import { X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { openCertificates } from '#api/embedded/certificates.ts';
import { closeServer, listen } from '#crds/process/ops-server.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'mediajobs-tls-'));
afterAll(() => rmSync(folder, { recursive: true }));

const DAY_MS = 86_400_000;
const now = new Date();
const inDays = (days: number) => ({ clock: { now: () => new Date(now.getTime() + days * DAY_MS) } });
const serial = (file: string): string => new X509Certificate(readFileSync(file)).serialNumber;

describe('openCertificates', () => {
  it('creates a certificate that a client accepts that trusts only the authority', async () => {
    const { caFile, certFile, keyFile } = await openCertificates(inDays(0), folder);
    const server = createServer({ cert: readFileSync(certFile), key: readFileSync(keyFile) }, (_, response) =>
      response.end('hello'),
    );
    await listen(server, { host: '127.0.0.1', port: 0 });
    const { port } = server.address() as AddressInfo;
    const sent = request({ host: 'localhost', port, family: 4, ca: readFileSync(caFile), agent: false }).end();
    const [response] = (await once(sent, 'response')) as [{ statusCode: number; resume(): void }];
    response.resume();
    expect(response.statusCode).toBe(200);
    await closeServer(server);
  });

  it('contains every name and address of the local machine', async () => {
    const { certFile } = await openCertificates(inDays(0), folder);
    const certificate = new X509Certificate(readFileSync(certFile));
    expect([
      certificate.checkHost('localhost'),
      certificate.checkIP('127.0.0.1'),
      certificate.checkIP('::1'),
    ]).not.toContain(undefined);
    expect(certificate.checkHost('example.com')).toBeUndefined();
  });

  it('keeps both while they last, then renews the certificate, then the authority', async () => {
    const first = await openCertificates(inDays(0), folder);
    const before = { ca: serial(first.caFile), cert: serial(first.certFile) };
    await openCertificates(inDays(300), folder);
    expect({ ca: serial(first.caFile), cert: serial(first.certFile) }).toEqual(before);
    await openCertificates(inDays(380), folder);
    expect(serial(first.caFile)).toBe(before.ca);
    expect(serial(first.certFile)).not.toBe(before.cert);
    await openCertificates(inDays(3500), folder);
    expect(serial(first.caFile)).not.toBe(before.ca);
  });
});
