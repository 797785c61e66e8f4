import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Server } from 'node:https';
import { startLoop, type Loop } from '#crds/shared/loop.ts';
import type { Log } from '#crds/shared/log.ts';

interface RenewDeps {
  readonly server: Pick<Server, 'setSecureContext'>;
  readonly log: Pick<Log, 'info' | 'error'>;
}

export interface CertificateFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

/** PEM texts: the certificate with the ones that lead to its authority, and its private key. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

const EVERY_MS = 60_000;

/**
 * The pair that the files hold.
 * @throws Error unless both are whole and fit together: node:tls takes an empty text, and then no handshake succeeds.
 */
export async function readCertificate({ certFile, keyFile }: CertificateFiles): Promise<Certificate> {
  const [cert, key] = await Promise.all([readFile(certFile, 'utf8'), readFile(keyFile, 'utf8')]);
  let fits: boolean;
  try {
    fits = new X509Certificate(cert).checkPrivateKey(createPrivateKey(key));
  } catch (error) {
    throw new Error(`${certFile} or ${keyFile} holds no certificate or key in PEM`, { cause: error });
  }
  if (!fits) throw new Error(`${keyFile} is not the private key of the certificate in ${certFile}`);
  return { cert, key };
}

/**
 * Serves the certificate of the files as soon as they hold another one than `first`, as after a renewal by an operator
 * of the cluster; open connections go on. Files that do not fit together are logged, and the certificate before stays.
 */
export function renewCertificate(
  { server, log }: RenewDeps,
  files: CertificateFiles,
  { first, everyMs = EVERY_MS }: { first: Certificate; everyMs?: number },
): Loop {
  let served = first;
  const turn = async (): Promise<void> => {
    const found = await readCertificate(files);
    if (found.cert === served.cert && found.key === served.key) return;
    server.setSecureContext(found);
    served = found;
    log.info('the certificate was renewed');
  };
  return startLoop({ log }, { name: 'certificate', everyMs, turn });
}
