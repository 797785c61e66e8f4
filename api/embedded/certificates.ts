/**
 * Certificate authority of a data folder, and a certificate for this machine that it issues.
 *
 *   missing or about to expire ──▶ created. A new authority also issues a new certificate.
 */
import { X509Certificate } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { StartError } from '#api/embedded/start-error.ts';
import { startSystemProcess } from '#api/embedded/system-process.ts';
import type { Clock } from '#crds/process/clock.ts';

export interface CertificateFiles {
  /** PEM of the certificate and its authority. */
  readonly certFile: string;
  readonly keyFile: string;
}

export interface Certificates extends CertificateFiles {
  /** PEM of the authority that callers must trust. */
  readonly caFile: string;
}

const DAY_MS = 86_400_000;
const CA_DAYS = 3650;
/** Lifetime of the certificate. Apple's devices accept 825 days at most, 398 for public authorities. */
const LEAF_DAYS = 397;
const RENEW_DAYS = 30;

const OPENSSL_CONFIG = `
[req]
prompt = no
distinguished_name = name
[name]
CN = mediajobs
[ca]
basicConstraints = critical, CA:TRUE, pathlen:0
keyUsage = critical, keyCertSign, cRLSign
subjectKeyIdentifier = hash
[leaf]
basicConstraints = critical, CA:FALSE
keyUsage = critical, digitalSignature
extendedKeyUsage = serverAuth
subjectKeyIdentifier = hash
authorityKeyIdentifier = keyid
subjectAltName = DNS:localhost, IP:127.0.0.1, IP:::1
`;

/** Returns the files of a valid certificate; creates or renews it first when necessary. @throws StartError when openssl is missing or fails. */
export async function openCertificates({ clock }: { clock: Clock }, folder: string): Promise<Certificates> {
  const files = {
    caFile: path.join(folder, 'ca.pem'),
    certFile: path.join(folder, 'cert.pem'),
    keyFile: path.join(folder, 'key.pem'),
  };
  const now = clock.now().getTime();
  const config = path.join(folder, 'openssl.cnf');
  const caKey = path.join(folder, 'ca.key');
  const isAuthorityValid = expiryOf(files.caFile, caKey) > now + (LEAF_DAYS + RENEW_DAYS) * DAY_MS;
  if (isAuthorityValid && expiryOf(files.certFile, files.keyFile) > now + RENEW_DAYS * DAY_MS) return files;
  writeFileSync(config, OPENSSL_CONFIG);
  if (!isAuthorityValid) {
    await makeCertificate({
      config,
      section: 'ca',
      days: CA_DAYS,
      name: 'mediajobs authority',
      out: files.caFile,
      keyOut: caKey,
      issuer: [],
    });
  }
  const issuer = ['-CA', files.caFile, '-CAkey', caKey];
  await makeCertificate({
    config,
    section: 'leaf',
    days: LEAF_DAYS,
    name: 'localhost',
    out: files.certFile,
    keyOut: files.keyFile,
    issuer,
  });
  return files;
}

/** Renews the certificate before it expires while the service runs. The API serves files that were replaced. */
export function renewDaily(
  { clock, report }: { clock: Clock; report: (sentence: string) => void },
  folder: string,
): void {
  const renew = (): void =>
    void openCertificates({ clock }, folder).catch((error: unknown) =>
      report(`the certificate is not renewed: ${error instanceof Error ? error.message : String(error)}`),
    );
  setInterval(renew, DAY_MS).unref();
}

/** Returns the end of the certificate's validity in milliseconds since 1970; 0 when it, or its key, is missing or unreadable. */
function expiryOf(certFile: string, keyFile: string): number {
  if (!existsSync(certFile) || !existsSync(keyFile)) return 0;
  try {
    return new X509Certificate(readFileSync(certFile)).validToDate.getTime();
  } catch {
    return 0;
  }
}

interface NewCertificate {
  readonly config: string;
  readonly section: 'ca' | 'leaf';
  readonly days: number;
  readonly name: string;
  readonly out: string;
  readonly keyOut: string;
  readonly issuer: readonly string[];
}

async function makeCertificate({ config, section, days, name, out, keyOut, issuer }: NewCertificate): Promise<void> {
  const draft = { out: `${out}.new`, keyOut: `${keyOut}.new` };
  await openssl([
    'req',
    '-x509',
    '-config',
    config,
    '-extensions',
    section,
    '-subj',
    `/CN=${name}`,
    '-days',
    String(days),
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:P-256',
    '-nodes',
    '-out',
    draft.out,
    '-keyout',
    draft.keyOut,
    ...issuer,
  ]);
  renameSync(draft.keyOut, keyOut);
  renameSync(draft.out, out);
}

async function openssl(args: readonly string[]): Promise<void> {
  if (!existsSync('/usr/bin/openssl'))
    throw new StartError("openssl is missing: install Debian's package openssl, or run hack/setup.");
  const lines: string[] = [];
  const started = await startSystemProcess({
    file: '/usr/bin/openssl',
    args,
    user: null,
    deathSignal: 'KILL',
    onLine: (line) => lines.push(line),
  });
  const end = await started.ended;
  if (end !== 'exit code 0')
    throw new StartError(`openssl failed to create a certificate (${end}): ${lines.slice(-2).join(' ')}`);
}
