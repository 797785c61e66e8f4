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

const EVERY_MS = 60_000;

/**
 * Serves the certificate of the files as soon as they hold another one, as after a renewal by an operator of the
 * cluster; open connections go on. Files that do not fit together are logged, and the certificate before stays.
 */
export async function renewCertificate(
  { server, log }: RenewDeps,
  files: CertificateFiles,
  { everyMs = EVERY_MS }: { everyMs?: number } = {},
): Promise<Loop> {
  let served = await readPair(files);
  const turn = async (): Promise<void> => {
    const found = await readPair(files);
    if (found.cert === served.cert && found.key === served.key) return;
    server.setSecureContext(found);
    served = found;
    log.info('the certificate was renewed');
  };
  return startLoop({ log }, { name: 'certificate', everyMs, turn });
}

async function readPair({ certFile, keyFile }: CertificateFiles): Promise<{ cert: string; key: string }> {
  const [cert, key] = await Promise.all([readFile(certFile, 'utf8'), readFile(keyFile, 'utf8')]);
  return { cert, key };
}
