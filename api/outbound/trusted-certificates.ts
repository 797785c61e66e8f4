import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls';
import { ConfigError } from '#crds/process/config.ts';

/**
 * Returns a secure context that trusts the certificates of Node (with NODE_EXTRA_CA_CERTS), of the system and of the
 * operator's PEM file.
 * @throws ConfigError when this user cannot read the file, or it does not begin with a certificate.
 */
export async function trustedCertificates(extraFile: string | null): Promise<SecureContext> {
  const extra = await extraCertificates(extraFile);
  return createSecureContext({
    ca: [...new Set([...getCACertificates('default'), ...getCACertificates('system')]), ...extra],
  });
}

/** Returns the content of the operator's file; nothing without one. @throws ConfigError as `trustedCertificates`. */
export async function extraCertificates(path: string | null): Promise<string[]> {
  if (path === null) return [];
  const refuse = (problem: string): never => {
    throw new ConfigError([
      `MEDIAJOBS_EXTRA_CA_FILE: ${path} ${problem}. Give a PEM file of certificates that every user of this machine can read.`,
    ]);
  };
  const pem = await readFile(path, 'utf8').catch(({ code }: NodeJS.ErrnoException) =>
    refuse(`cannot be read (${code})`),
  );
  try {
    new X509Certificate(pem);
  } catch {
    return refuse('has no certificate');
  }
  return [pem];
}
