import { X509Certificate } from 'node:crypto';
import { createServer, request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { issueCertificate } from '#api/installation-secrets/issue-certificate.ts';

const NAMES = ['mediajobs-api', 'localhost', 'media.example.com', '127.0.0.1'];
const NOW = new Date('2026-11-23T12:00:00Z');

/** Returns the status of a request to a server with the certificate, under a name. */
async function statusOf(issued: ReturnType<typeof issueCertificate>, servername: string): Promise<number> {
  const server = createServer({ cert: issued.certificate, key: issued.key }, (_incoming, response) => response.end());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  try {
    return await new Promise((resolve, reject) => {
      request({ host: '127.0.0.1', port, servername, ca: issued.authority, agent: false }, ({ statusCode = 0 }) =>
        resolve(statusCode),
      )
        .on('error', reject)
        .end();
    });
  } finally {
    server.close();
  }
}

describe('an issued certificate', () => {
  it('is accepted by callers that trust the authority, under each of its names', async () => {
    const issued = issueCertificate({ names: NAMES, now: new Date() });
    for (const name of NAMES) expect(await statusOf(issued, name)).toBe(200);
    await expect(statusOf(issued, 'other.example.com')).rejects.toThrow(/altnames/);
  });

  it('is signed by the authority, which is its own issuer and may issue certificates', () => {
    const issued = issueCertificate({ names: NAMES, now: NOW });
    const authority = new X509Certificate(issued.authority);
    const certificate = new X509Certificate(issued.certificate);
    expect(certificate.verify(authority.publicKey)).toBe(true);
    expect(certificate.checkIssued(authority)).toBe(true);
    expect({ authority: authority.ca, certificate: certificate.ca }).toEqual({ authority: true, certificate: false });
    expect(certificate.subjectAltName).toBe(
      'DNS:mediajobs-api, DNS:localhost, DNS:media.example.com, IP Address:127.0.0.1',
    );
  });

  it('is valid from an hour before its issue, for ten years', () => {
    const { validFromDate, validToDate } = new X509Certificate(
      issueCertificate({ names: NAMES, now: NOW }).certificate,
    );
    expect([validFromDate, validToDate]).toEqual([new Date('2026-11-23T11:00:00Z'), new Date('2036-11-20T12:00:00Z')]);
  });

  it('has a common name of at most 64 characters', () => {
    const { certificate } = issueCertificate({ names: [`${'a'.repeat(80)}.example.com`], now: NOW });
    expect(new X509Certificate(certificate).subject).toBe(`CN=${'a'.repeat(64)}`);
  });
});
