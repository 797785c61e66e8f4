/** Copies of a certificate and its key that the API's group may read. The originals stay with the supervisor's user, who renews them. */
import { chmodSync, chownSync, mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { CertificateFiles } from '#api/embedded/certificates.ts';
import { StartError } from '#api/embedded/start-error.ts';
import { writeFileAtomically } from '#api/embedded/write-file.ts';

interface CopiesInput {
  readonly from: CertificateFiles;
  readonly folder: string;
  /** Group that may read the copies. */
  readonly group: number;
}

interface CopiesDeps {
  /** Called with one sentence for the operator. */
  readonly report: (sentence: string) => void;
}

const POLL_MS = 30_000;

/** Copies certificate and key now and whenever one of them changes. Returns the paths of the copies. @throws StartError when one cannot be read. */
export function copyCertificate({ report }: CopiesDeps, { from, folder, group }: CopiesInput): CertificateFiles {
  mkdirSync(folder, { recursive: true, mode: 0o710 });
  chownSync(folder, 0, group);
  chmodSync(folder, 0o710);
  const to = { certFile: path.join(folder, 'cert.pem'), keyFile: path.join(folder, 'key.pem') };
  const copied = new Map<string, string>();
  const copyChanged = (): void => {
    for (const name of ['certFile', 'keyFile'] as const) {
      const pem = readFileSync(from[name], 'utf8');
      if (copied.get(name) === pem) continue;
      writeFileAtomically(to[name], pem, { readers: { gid: group, mode: 0o640 }, isDurable: false });
      copied.set(name, pem);
    }
  };
  try {
    copyChanged();
  } catch (error) {
    throw new StartError(`The certificate cannot be read: ${(error as Error).message}.`, { cause: error });
  }
  setInterval(() => {
    try {
      copyChanged();
    } catch (error) {
      report(`cannot read the certificate, so a renewed one is not served: ${(error as Error).message}`);
    }
  }, POLL_MS).unref();
  return to;
}
