import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** PEM texts. */
export interface ReceiverCertificates {
  readonly authority: string;
  readonly key: string;
  readonly certificate: string;
}

const NAMES = ['DNS:*.receiver.test', 'DNS:localhost', 'IP:127.0.0.1', 'IP:127.0.0.2', 'IP:::1'];

declare module 'vitest' {
  interface ProvidedContext {
    receiverCertificates: ReceiverCertificates | undefined;
  }
}

/** Creates an authority and a certificate for `*.receiver.test`, `localhost`, 127.0.0.1, 127.0.0.2, ::1 and the given addresses. */
export function makeReceiverCertificates(addresses: readonly string[] = []): ReceiverCertificates {
  const folder = mkdtempSync(path.join(tmpdir(), 'mediajobs-ca-'));
  const openssl = (...args: string[]): unknown => execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' });
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  try {
    openssl(
      'req',
      '-x509',
      ...newKey,
      '-keyout',
      'ca.key',
      '-out',
      'ca.pem',
      '-days',
      '2',
      '-subj',
      '/CN=test authority',
    );
    openssl('req', ...newKey, '-keyout', 'key.pem', '-out', 'request.pem', '-subj', '/CN=receiver');
    writeFileSync(
      path.join(folder, 'names'),
      `subjectAltName=${[...NAMES, ...addresses.map((address) => `IP:${address}`)].join(',')}\nbasicConstraints=CA:FALSE\n`,
    );
    openssl(
      'x509',
      '-req',
      '-in',
      'request.pem',
      '-CA',
      'ca.pem',
      '-CAkey',
      'ca.key',
      '-CAcreateserial',
      '-days',
      '2',
      '-extfile',
      'names',
      '-out',
      'cert.pem',
    );
    const read = (name: string): string => readFileSync(path.join(folder, name), 'utf8');
    return { authority: read('ca.pem'), key: read('key.pem'), certificate: read('cert.pem') };
  } finally {
    rmSync(folder, { recursive: true });
  }
}
