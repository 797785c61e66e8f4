import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Server } from 'node:https';
import { startLoop, type Loop } from '#api/loops/loop.ts';
import type { Log } from '#crds/process/log.ts';

interface RenewDeps {
  readonly server: Pick<Server, 'setSecureContext'>;
  readonly log: Pick<Log, 'info' | 'error'>;
}

export interface CertificatePaths {
  readonly certFile: string;
  readonly keyFile: string;
}

/** A certificate with its intermediate certificates, and its private key, as PEM texts. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

/** Interval between reads of the files, in milliseconds. */
const RELOAD_INTERVAL_MS = 60_000;

/**
 * Reads a certificate and its private key.
 * @throws Error unless both are valid and match: node:tls accepts an empty text, and then every handshake fails.
 */
export async function readCertificate({ certFile, keyFile }: CertificatePaths): Promise<Certificate> {
  const [cert, key] = await Promise.all([readFile(certFile, 'utf8'), readFile(keyFile, 'utf8')]);
  let matches: boolean;
  try {
    matches = new X509Certificate(cert).checkPrivateKey(createPrivateKey(key));
  } catch (error) {
    throw new Error(`${certFile} or ${keyFile} contains no certificate or key in PEM format`, { cause: error });
  }
  if (!matches) throw new Error(`${keyFile} is not the private key of the certificate in ${certFile}`);
  return { cert, key };
}

/**
 * Polls the files and serves their certificate when it changes, for example after a renewal in a cluster. Open
 * connections are kept. Invalid files are logged, and the previous certificate stays in use.
 */
export function renewCertificate(
  { server, log }: RenewDeps,
  files: CertificatePaths,
  { first, everyMs = RELOAD_INTERVAL_MS }: { first: Certificate; everyMs?: number },
): Loop {
  let served = first;
  const reload = async (): Promise<void> => {
    const found = await readCertificate(files);
    if (found.cert === served.cert && found.key === served.key) return;
    server.setSecureContext(found);
    served = found;
    log.info('certificate renewed');
  };
  return startLoop({ log }, { name: 'certificate', everyMs, iterate: reload });
}
