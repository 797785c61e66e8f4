import { readFile } from 'node:fs/promises';
import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls';

/**
 * Returns a secure context that trusts the certificates of Node (with NODE_EXTRA_CA_CERTS), of the system and of the
 * operator's PEM file.
 */
export async function trustedCertificates(extraFile: string | null): Promise<SecureContext> {
  const extra = extraFile === null ? [] : [await readFile(extraFile, 'utf8')];
  return createSecureContext({
    ca: [...new Set([...getCACertificates('default'), ...getCACertificates('system')]), ...extra],
  });
}
