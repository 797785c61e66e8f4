/**
 * A certificate authority of this data folder's own, and a certificate of it for this machine.
 *
 *   none, or close to its end ──▶ made. A new authority makes a new certificate.
 */
import { X509Certificate } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { StartError } from '#api/embedded/start-error.ts';
import { startSystemProcess } from '#api/embedded/system-process.ts';
import type { Clock } from '#crds/shared/clock.ts';

export interface Certificates {
  /** PEM of the authority: what callers must trust. */
  readonly caFile: string;
  /** PEM of the certificate and its authority. */
  readonly certFile: string;
  readonly keyFile: string;
}

const DAY_MS = 86_400_000;
const CA_DAYS = 3650;
/** Apple's limit for certificates that its devices accept is 825, and 398 for public ones. */
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

/** @throws StartError when openssl is missing or fails. */
export async function openCertificates({ clock }: { clock: Clock }, folder: string): Promise<Certificates> {
  const files = {
    caFile: path.join(folder, 'ca.pem'),
    certFile: path.join(folder, 'cert.pem'),
    keyFile: path.join(folder, 'key.pem'),
  };
  const now = clock.now().getTime();
  const config = path.join(folder, 'openssl.cnf');
  const caKey = path.join(folder, 'ca.key');
  const caLasts = lastsUntil(files.caFile, caKey) > now + (LEAF_DAYS + RENEW_DAYS) * DAY_MS;
  if (caLasts && lastsUntil(files.certFile, files.keyFile) > now + RENEW_DAYS * DAY_MS) return files;
  writeFileSync(config, OPENSSL_CONFIG);
  if (!caLasts) {
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

/** 0 when the certificate or its key is not there. */
function lastsUntil(certFile: string, keyFile: string): number {
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
    throw new StartError(`openssl could not make a certificate (${end}): ${lines.slice(-2).join(' ')}`);
}
